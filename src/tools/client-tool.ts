import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { clientTicket } from './tickets.ts';
import { type Tool, ToolError } from './tool.ts';

/** The value of `needsRun` for tools that a client executes. */
export const BY_CLIENT = 'the client of a run executes it';

/**
 * Creates a tool that a client declares in its request and executes itself: each call is suspended until the client
 * returns its result.
 *
 * Arguments are passed to the client unchecked. Any client that may start runs can supply the schema, and even a small
 * schema can take unbounded time to validate against; the client validates its own arguments, and can return an error.
 */
export const clientToolOf = (descriptor: ToolDescriptor): Tool => ({
  descriptor,
  idempotent: false,
  exclusive: false,
  checksOwnArguments: true,
  needsRun: BY_CLIENT,
  gate: (call) => ({ kind: 'suspend', ticket: clientTicket(call) }),
  async execute() {
    throw new ToolError('internal', `'${descriptor.id}' is executed by the client`);
  },
});
