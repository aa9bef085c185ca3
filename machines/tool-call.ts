import { setup } from 'xstate';

/** One call of a tool that the model asked for (runtime.md 7.2). */

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
  SUCCEED: { target: 'succeeded', description: 'It has a result.' },
  FAIL: { target: 'failed', description: 'It has an error result; the run goes on.' },
  CANCEL: { target: 'cancelled', description: 'Its run was cancelled.' },
} as const;

export const toolCallMachine = setup({ types: {} as { events: ToolCallEvent } }).createMachine({
  id: 'tool-call',
  description: 'One tool call of one step. Results never end a run by themselves.',
  initial: 'new',
  states: {
    new: {
      description: 'Asked for by the model, not yet gated.',
      on: { START: { target: 'running', description: 'The gate lets it pass.' }, ...settle },
    },
    running: {
      description: 'The tool executes.',
      on: {
        RETURN: { target: 'returned', description: 'It has ended while calls beside it still execute.' },
        ...settle,
      },
    },
    returned: {
      description: 'Its result is kept with the run, and joins the history behind those of earlier calls.',
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
      description: 'Goes through gate and tool again, with the decision at hand.',
      on: { START: { target: 'running', description: 'The gate lets it pass.' }, ...settle },
    },
    succeeded: { type: 'final', description: 'Done, with a result.' },
    failed: { type: 'final', description: 'Done, with an error result.' },
    cancelled: { type: 'final', description: 'Never finished; it leaves what the model sees.' },
  },
});
