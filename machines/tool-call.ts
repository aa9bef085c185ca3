import { setup } from 'xstate';

/** One tool call requested by the model (runtime.md 7.2). */

export type ToolCallEvent =
  | { type: 'START' }
  | { type: 'RETURN' }
  | { type: 'SUSPEND' }
  | { type: 'RESUME' }
  | { type: 'SUCCEED' }
  | { type: 'FAIL' }
  | { type: 'CANCEL' };

const settle = {
  SUSPEND: { target: 'suspended', description: 'Waits for a decision or for the client.' },
  SUCCEED: { target: 'succeeded', description: 'The call has a result.' },
  FAIL: { target: 'failed', description: 'The call has an error result; the run continues.' },
  CANCEL: { target: 'cancelled', description: 'Its run was cancelled.' },
} as const;

/**
 * One tool call that the model requested (runtime.md 7.2).
 *
 * @example
 * ```ts
 * import { initialTransition, transition } from 'xstate';
 *
 * const [requested] = initialTransition(toolCallMachine);
 * const [suspended] = transition(toolCallMachine, requested, { type: 'SUSPEND' });
 * console.log(suspended.value, suspended.can({ type: 'RESUME' })); // suspended true
 * ```
 */
export const toolCallMachine = setup({ types: {} as { events: ToolCallEvent } }).createMachine({
  id: 'tool-call',
  description: 'One tool call of one step. A result alone never ends a run.',
  initial: 'new',
  states: {
    new: {
      description: 'Requested by the model, not gated yet.',
      on: { START: { target: 'running', description: 'The gate allows the call.' }, ...settle },
    },
    running: {
      description: 'The tool executes.',
      on: {
        RETURN: { target: 'returned', description: 'The call ended while other calls of the step execute.' },
        ...settle,
      },
    },
    returned: {
      description: 'The result is stored with the run and joins the history after those of earlier calls.',
      on: { SUCCEED: settle.SUCCEED, FAIL: settle.FAIL, CANCEL: settle.CANCEL },
    },
    suspended: {
      description: 'A ticket is open; nothing executes.',
      on: {
        RESUME: { target: 'resuming', description: 'A decision arrived.' },
        CANCEL: {
          target: 'cancelled',
          description: 'Declined, superseded by new input, or its run was cancelled.',
        },
      },
    },
    resuming: {
      description: 'Passes gate and tool again with the decision.',
      on: { START: { target: 'running', description: 'The gate allows the call.' }, ...settle },
    },
    succeeded: { type: 'final', description: 'Done, with a result.' },
    failed: { type: 'final', description: 'Done, with an error result.' },
    cancelled: { type: 'final', description: 'Never finished; the model does not see the call.' },
  },
});
