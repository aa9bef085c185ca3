import type { Ticket } from '../../schema/run-event.ts';
import type { GatedCall } from '../../tools/tool.ts';
import { definePlugin } from '../define.ts';

/**
 * Delegates two registered tools to the client (agent-loop.md 7.5): a call is suspended under its own id, and the
 * response of the client becomes its result, so the gate is not evaluated again.
 */

const EXECUTED_BY_THE_CLIENT: ReadonlySet<string> = new Set(['askUserQuestion', 'set_background_color']);

export const frontendToolsPlugin = definePlugin({
  id: 'frontend_tools',
  create: () => ({
    gate: (call) =>
      EXECUTED_BY_THE_CLIENT.has(call.name)
        ? { kind: 'suspend', ticket: ticketOf(call) }
        : { kind: 'proceed' },
  }),
});

const ticketOf = (call: GatedCall): Ticket => ({
  suspension: {
    id: call.id,
    action: `tool:${call.name}`,
    ...(call.arguments !== null && { parameters: call.arguments }),
  },
  pending: { id: call.id, name: call.name, arguments: call.arguments },
  resume_mode: 'use_decision_as_tool_result',
});
