import type { Protocol } from '../../runtime/index.ts';

/**
 * The frames of the service's own run streams (runtime.md 6.1): one `data:` line with the event as JSON. Deltas are
 * built from precomputed parts around the variable text.
 */
export const nativeProtocol: Protocol = {
  name: 'native',
  createEncoder: () => ({
    event: (event) => `data: ${JSON.stringify(event)}\n\n`,
    text: (delta) => `data: {"event_type":"text_delta","delta":${JSON.stringify(delta)}}\n\n`,
    reasoning: (delta) => `data: {"event_type":"reasoning_delta","delta":${JSON.stringify(delta)}}\n\n`,
    toolDelta: (id, argsDelta) =>
      `data: {"event_type":"tool_call_delta","id":${JSON.stringify(id)},"args_delta":${JSON.stringify(argsDelta)}}\n\n`,
  }),
};
