import { setup } from 'xstate';

/**
 * A run as clients of A2A know it (a2a.md 8.1): a task, in one of the eight states of the protocol. What it is at any
 * moment is a tag of the state that its run is in; what may come next, and what a client may still ask of it, is said
 * here, for tasks of this service and for those of others that are followed from here.
 *
 * A task that somebody follows is an actor; of all others the machine is asked with the functions below.
 */

/** On the wire. */
export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_REJECTED';

/** `interrupted`: it goes on when somebody answers. `terminal`: nothing will ever change it again. */
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

/** It can be answered in more than one step: what is left to ask may be of the other kind. */
const answered = {
  ANSWER: {
    target: 'submitted',
    description: 'The answer is durable; the task goes on when it is its turn.',
  },
  START: { target: 'working', description: 'Answered, and it goes on at once.' },
  CANCEL: canceled('Nobody will answer.'),
} as const;

export const a2aTaskMachine = setup({
  types: {} as { events: A2aTaskEvent; tags: TaskTag },
}).createMachine({
  id: 'a2a-task',
  description: 'A task of A2A, from the message that is accepted to the state in which it stays.',
  initial: 'submitted',
  states: {
    submitted: {
      tags: ['TASK_STATE_SUBMITTED'],
      description: 'Accepted and durable; it has not begun, or not gone on, yet.',
      on: {
        START: { target: 'working', description: 'It is its turn.' },
        CANCEL: canceled('Withdrawn, or overtaken by other work of its context, before it began.'),
        FAIL: { target: 'failed', description: 'It can never begin.' },
      },
    },
    working: {
      tags: ['TASK_STATE_WORKING'],
      description: 'The agent is at work, or background tasks of its are.',
      on: {
        ASK_FOR_INPUT: {
          target: 'inputRequired',
          description: 'The agent, a client tool or a delegate asks.',
        },
        ASK_FOR_LOGIN: { target: 'authRequired', description: 'A permission or a login is needed.' },
        COMPLETE: { target: 'completed', description: 'The agent has answered.' },
        FAIL: { target: 'failed', description: 'The model, the store or another service failed for good.' },
        REJECT: { target: 'rejected', description: 'A rule of the agent forbids a call.' },
        CANCEL: canceled('Told to stop.'),
      },
    },
    inputRequired: {
      tags: ['TASK_STATE_INPUT_REQUIRED', 'interrupted'],
      description: 'It waits for what only its user can say.',
      on: answered,
    },
    authRequired: {
      tags: ['TASK_STATE_AUTH_REQUIRED', 'interrupted'],
      description: 'It waits for a permission, or for somebody to log in.',
      on: answered,
    },
    completed: {
      type: 'final',
      tags: ['TASK_STATE_COMPLETED', 'terminal'],
      description: 'The answer is its artifact.',
    },
    failed: {
      type: 'final',
      tags: ['TASK_STATE_FAILED', 'terminal'],
      description: 'Its status says why.',
    },
    canceled: {
      type: 'final',
      tags: ['TASK_STATE_CANCELED', 'terminal'],
      description: 'Stopped by a client, an operator, or newer work of its context.',
    },
    rejected: {
      type: 'final',
      tags: ['TASK_STATE_REJECTED', 'terminal'],
      description: 'Refused by a rule of the agent; its status says by which.',
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

// The literal has these keys and no others.
export const TASK_STATES = Object.keys(VALUE) as [TaskState, ...TaskState[]];

/** The machine in this state; also what an actor of a task goes on from. */
export const taskAt = (state: TaskState) => a2aTaskMachine.resolveState({ value: VALUE[state], context: {} });

const tagged = (tag: TaskTag): ReadonlySet<TaskState> =>
  new Set(TASK_STATES.filter((state) => taskAt(state).hasTag(tag)));

const TERMINAL = tagged('terminal');
const INTERRUPTED = tagged('interrupted');

/** Nothing will ever change it again. */
export const isTerminal = (state: TaskState): boolean => TERMINAL.has(state);

/** It goes on when somebody answers. */
export const isInterrupted = (state: TaskState): boolean => INTERRUPTED.has(state);

/** Nothing more happens to it by itself. */
export const isAtRest = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state);

/** May a client ask this of a task in this state? */
export const mayTake = (state: TaskState, type: 'ANSWER' | 'CANCEL'): boolean => taskAt(state).can({ type });

/** What a task that is next seen in this state was told. */
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

export const toldOf = (state: TaskState): A2aTaskEvent => ({ type: TOLD[state] });
