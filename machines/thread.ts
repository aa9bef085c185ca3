import { setup } from 'xstate';
import { busy, idle, preempting, waiting } from './thread-states.ts';
import { withRequest } from './thread-transitions.ts';
import type { Received, ThreadEvent } from './thread-types.ts';

/**
 * Admission: how a thread handles input, decisions and cancels, depending on its current work. At most one run executes
 * on a thread. The machine decides what happens and in which order; the runtime binds the actions.
 *
 * The machine never reads `host` or a request; it only passes them on to guards and actions. The runtime binds this
 * chart to its own types of both, so that an action which needs a decision cannot be used for an event that carries
 * none.
 */
export const threadChart = {
  description: 'Admission of input to a thread: at most one run executes at a time.',
  initial: 'idle',
  on: {
    CANCEL: { actions: withRequest('cancel'), description: 'One run: executing, waiting or queued.' },
    DELETE: {
      target: '.deleted',
      actions: withRequest('remove'),
      description: 'Execution stops and the rows are deleted.',
    },
  },
  states: {
    idle,
    busy,
    preempting,
    waiting,
    deleted: { type: 'final', description: 'Deleted; late commits of its runs write no thread rows.' },
  },
} as const;

const unboundGuard = (): boolean => false;
const unboundRequestGuard = (_: object, __: Received<object>): boolean => false;
const unboundAction = (): void => {};
const unboundRequestAction = (_: object, __: Received<object>): void => {};

/**
 * Decides how a thread handles input, decisions and cancels, depending on its current work (runtime.md 8, 9). At most
 * one run executes on a thread. This machine is not bound to a runtime: no guard holds, and actions have no effect.
 *
 * @example
 * ```ts
 * for (const { key, description } of Object.values(threadMachine.states)) console.log(`${key}: ${description}`);
 * ```
 */
export const threadMachine = setup({
  types: {} as { context: { host: object }; events: ThreadEvent; input: { host: object } },
  guards: {
    /** Whether queued work exists that may start now. */
    hasQueued: unboundGuard,
    /** Whether all concurrency slots are in use, or other threads are waiting for one. */
    isFull: unboundGuard,
    /** Whether a run of the thread waits. */
    hasWaiting: unboundGuard,
    hasNoneWaiting: unboundGuard,
    /** Whether a commit already contains the end of the active run. */
    isEnding: unboundGuard,
    /** Whether the input continues the waiting open run (runtime.md 7.4). */
    continuesOpenRun: unboundRequestGuard,
    /** `isFull` and `continuesOpenRun`. */
    continuesWhenFull: unboundRequestGuard,
    /** Whether the active run can still take this input for its next step. */
    takesInput: unboundRequestGuard,
    /** Whether the input has a start time in the future. */
    isDelayed: unboundRequestGuard,
    /** Whether the request consists only of decisions for the run that executes here. */
    answersActive: unboundRequestGuard,
    /** Whether the run of a decision is the one that executes here. */
    executes: unboundRequestGuard,
    /** Whether the run is suspended in this process. */
    holds: unboundRequestGuard,
    /** Whether the run of a task event waits for its background tasks and is not executing. */
    awaitsTasks: unboundRequestGuard,
    /** `holds` and `awaitsTasks`. */
    holdsAwaiting: unboundRequestGuard,
    /** `isFull` and `awaitsTasks`. */
    awaitsTasksWhenFull: unboundRequestGuard,
  },
  actions: {
    startRun: unboundRequestAction,
    continueRun: unboundRequestAction,
    enqueue: unboundRequestAction,
    enqueueForeground: unboundRequestAction,
    enqueueInstead: unboundRequestAction,
    enqueueContinuation: unboundRequestAction,
    deliver: unboundRequestAction,
    answer: unboundRequestAction,
    startCleared: unboundRequestAction,
    enqueueCleared: unboundRequestAction,
    replaceOpen: unboundRequestAction,
    keepPendingForeground: unboundRequestAction,
    startPendingForeground: unboundAction,
    refusePendingForeground: unboundAction,
    refuse: unboundRequestAction,
    startNext: unboundAction,
    decide: unboundRequestAction,
    resumeHeld: unboundRequestAction,
    enqueueDecision: unboundRequestAction,
    deliverEvent: unboundRequestAction,
    enqueueWake: unboundRequestAction,
    wakeHeld: unboundRequestAction,
    keepEvent: unboundRequestAction,
    cancel: unboundRequestAction,
    bumpEpoch: unboundAction,
    cancelActive: unboundAction,
    interrupt: unboundRequestAction,
    reportTimeout: unboundAction,
    remove: unboundRequestAction,
  },
  delays: {
    /** How long a foreground run waits for the previous run to be released; the runtime binds the setting. */
    releaseWait: 5_000,
  },
}).createMachine({ id: 'thread', ...threadChart, context: ({ input }) => input });
