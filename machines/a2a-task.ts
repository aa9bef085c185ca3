import { setup } from 'xstate';

/**
 * A run as A2A clients see it (a2a.md 8.1): a task in one of the eight states of the protocol. The task state is a tag
 * of the state of the run. This machine defines which states may follow and which requests a client may still make, for
 * tasks of this service and for tasks of other services that it follows.
 *
 * A followed task is an actor; for all other tasks the functions below query the machine.
 */

/** Task states as on the wire. */
export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_REJECTED';

/** `interrupted`: continues after an answer. `terminal`: never changes again. */
type TaskTag = TaskState | 'interrupted' | 'terminal';

export type A2aTaskEvent =
  | { type: 'START' }
  | { type: 'ASK_FOR_INPUT' }
  | { type: 'ASK_FOR_LOGIN' }
  /** A message with the id of the task, or a decision. */
  | { type: 'ANSWER' }
  | { type: 'CANCEL' }
  | { type: 'COMPLETE' }
  | { type: 'FAIL' }
  | { type: 'REJECT' };

const canceled = (description: string) => ({ target: 'canceled', description }) as const;

/** A task can require more than one answer: the next request may be of the other kind. */
const answered = {
  ANSWER: {
    target: 'submitted',
    description: 'The decision is durable; the task continues when its run is scheduled.',
  },
  START: { target: 'working', description: 'A decision arrived; the task continues at once.' },
  CANCEL: canceled('Cancelled while waiting for input.'),
} as const;

/**
 * A run as A2A clients see it (a2a.md 8.1). Tags of its states are the task states of the protocol, and `terminal` or
 * `interrupted`.
 *
 * @example
 * ```ts
 * import { initialTransition, transition } from 'xstate';
 *
 * const [submitted] = initialTransition(a2aTaskMachine);
 * const [canceled] = transition(a2aTaskMachine, submitted, { type: 'CANCEL' });
 * console.log(canceled.hasTag('TASK_STATE_CANCELED'), canceled.hasTag('terminal')); // true true
 * ```
 */
export const a2aTaskMachine = setup({
  types: {} as { events: A2aTaskEvent; tags: TaskTag },
}).createMachine({
  id: 'a2a-task',
  description: 'An A2A task, from the accepted message to its final state.',
  initial: 'submitted',
  states: {
    submitted: {
      tags: ['TASK_STATE_SUBMITTED'],
      description: 'Accepted and durable; its run has not started or resumed yet.',
      on: {
        START: { target: 'working', description: 'Its run starts or resumes.' },
        CANCEL: canceled('Withdrawn, or superseded by other work of its context, before it started.'),
        FAIL: { target: 'failed', description: 'Its run was dead-lettered before it started.' },
      },
    },
    working: {
      tags: ['TASK_STATE_WORKING'],
      description: 'The agent or one of its background tasks is executing.',
      on: {
        ASK_FOR_INPUT: {
          target: 'inputRequired',
          description: 'The agent, a client tool or a delegate requests input.',
        },
        ASK_FOR_LOGIN: { target: 'authRequired', description: 'A permission or a login is required.' },
        COMPLETE: { target: 'completed', description: 'The agent has completed its response.' },
        FAIL: {
          target: 'failed',
          description: 'The model, the store or another service failed permanently.',
        },
        REJECT: { target: 'rejected', description: 'A rule of the agent forbids a call.' },
        CANCEL: canceled('Stopped while working.'),
      },
    },
    inputRequired: {
      tags: ['TASK_STATE_INPUT_REQUIRED', 'interrupted'],
      description: 'The task waits for input from its user.',
      on: answered,
    },
    authRequired: {
      tags: ['TASK_STATE_AUTH_REQUIRED', 'interrupted'],
      description: 'The task waits for a permission or a login.',
      on: answered,
    },
    completed: {
      type: 'final',
      tags: ['TASK_STATE_COMPLETED', 'terminal'],
      description: 'The response is its artifact.',
    },
    failed: {
      type: 'final',
      tags: ['TASK_STATE_FAILED', 'terminal'],
      description: 'The status contains the reason.',
    },
    canceled: {
      type: 'final',
      tags: ['TASK_STATE_CANCELED', 'terminal'],
      description: 'Stopped by a client, an operator, or a newer message of its context.',
    },
    rejected: {
      type: 'final',
      tags: ['TASK_STATE_REJECTED', 'terminal'],
      description: 'Rejected by a rule of the agent; the status names the rule.',
    },
  },
});

const VALUE = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'inputRequired',
  TASK_STATE_AUTH_REQUIRED: 'authRequired',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
} as const satisfies Record<TaskState, string>;

// The keys of `VALUE` are exactly the task states.
export const TASK_STATES = Object.keys(VALUE) as [TaskState, ...TaskState[]];

/** The snapshot of the machine in this state; also the start of an actor for an existing task. */
export const taskAt = (state: TaskState) => a2aTaskMachine.resolveState({ value: VALUE[state], context: {} });

const tagged = (tag: TaskTag): ReadonlySet<TaskState> =>
  new Set(TASK_STATES.filter((state) => taskAt(state).hasTag(tag)));

const TERMINAL = tagged('terminal');
const INTERRUPTED = tagged('interrupted');

/** Whether the task never changes again. */
export const isTerminal = (state: TaskState): boolean => TERMINAL.has(state);

/** Whether the task continues after an answer. */
export const isInterrupted = (state: TaskState): boolean => INTERRUPTED.has(state);

/** Whether the task is terminal or waits for an answer. */
export const isTerminalOrInterrupted = (state: TaskState): boolean =>
  isTerminal(state) || isInterrupted(state);

/** Whether a client may send this event to a task in this state. */
export const mayTake = (state: TaskState, type: 'ANSWER' | 'CANCEL'): boolean => taskAt(state).can({ type });

/** The event that leads to each observed state. */
const TOLD = {
  TASK_STATE_SUBMITTED: 'ANSWER',
  TASK_STATE_WORKING: 'START',
  TASK_STATE_INPUT_REQUIRED: 'ASK_FOR_INPUT',
  TASK_STATE_AUTH_REQUIRED: 'ASK_FOR_LOGIN',
  TASK_STATE_COMPLETED: 'COMPLETE',
  TASK_STATE_FAILED: 'FAIL',
  TASK_STATE_CANCELED: 'CANCEL',
  TASK_STATE_REJECTED: 'REJECT',
} as const satisfies Record<TaskState, A2aTaskEvent['type']>;

export const updateEventOf = (state: TaskState): A2aTaskEvent => ({ type: TOLD[state] });
