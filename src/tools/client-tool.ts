import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { clientTicket } from './tickets.ts';
import { type Tool, ToolError } from './tool.ts';

/**
 * A tool that a client declares with its request and executes itself: each call waits for its answer.
 *
 * Arguments go to the client as the model wrote them. Its schema comes from whoever may start runs, and a small one
 * can take for ever to check against; the client knows best what its tool takes, and can answer with an error.
 */
export const clientToolOf = (descriptor: ToolDescriptor): Tool => ({
  descriptor,
  idempotent: false,
  exclusive: false,
  checksOwnArguments: true,
  gate: (call) => ({ kind: 'suspend', ticket: clientTicket(call) }),
  async execute() {
    throw new ToolError('internal', `'${descriptor.id}' is executed by the client`);
  },
});
