import { setup } from 'xstate';
import { threadChart } from '../../../machines/thread.ts';
import type { Received, ThreadEvent } from '../../../machines/thread-types.ts';
import { isStoppable, takesInput } from '../run/control.ts';
import {
  continueRun,
  deliver,
  enqueue,
  enqueueCleared,
  enqueueContinuation,
  enqueueForeground,
  enqueueInstead,
  refuse,
  replaceOpen,
  startCleared,
  startRun,
} from './accept-input.ts';
import { cancel, cancelActive, interrupt, remove, reportTimeout, supersedeAll } from './cancel.ts';
import { startNext } from './launch.ts';
import { isOfUser } from './open-run.ts';
import {
  keepPendingForeground,
  refusePendingForeground,
  startPendingForeground,
} from './pending-foreground.ts';
import type { Decision, Input, Requests, TaskUpdate } from './request-types.ts';
import { isFull } from './room.ts';
import type { Thread } from './state.ts';
import { isAnswerTo } from './submission.ts';
import { hasQueued } from './timer.ts';
import {
  answer,
  decide,
  deliverEvent,
  enqueueDecision,
  enqueueResume,
  isAwaitingTasks,
  keepEvent,
  resumeHeld,
  wakeHeld,
} from './waiting-runs.ts';

/**
 * The machine of a thread: its chart, bound to guards and actions. Each of them is a function of the same name, which
 * receives the thread and the request of the event. The compiler checks that the event carries that request.
 */

type ThreadFunctions = Record<string, (thread: Thread, request: never) => unknown>;

type Args = { context: { host: Thread } };

type Bound<Functions extends ThreadFunctions> = {
  [Name in keyof Functions]: (
    args: Args,
    ...received: Parameters<Functions[Name]> extends [Thread, infer Request] ? [Received<Request>] : []
  ) => ReturnType<Functions[Name]>;
};

function bind<Functions extends ThreadFunctions>(functions: Functions): Bound<Functions>;
function bind(functions: ThreadFunctions): Bound<ThreadFunctions> {
  return Object.fromEntries(Object.entries(functions).map(([name, apply]) => [name, bindOne(apply)]));
}

/** The machine passes nothing to a function without a request. */
function bindOne<Request, Result>(apply: (thread: Thread, request: Request) => Result) {
  return ({ context }: Args, received: Received<Request>): Result => apply(context.host, received?.request);
}

/** Built once per process, since building a machine is expensive. */
export const boundThreadMachine = setup({
  types: {} as { context: { host: Thread }; events: ThreadEvent<Requests>; input: { host: Thread } },
  guards: bind({
    hasQueued,
    isFull,
    hasWaiting: ({ ledger }: Thread) => ledger.waiting.size > 0,
    hasNoneWaiting: ({ ledger }: Thread) => ledger.waiting.size === 0,
    isEnding,
    continuesOpenRun: continuesInactive,
    continuesWhenFull: whenFull(continuesInactive),
    takesInput: isTaken,
    isDelayed: ({ deps }: Thread, { available_at = 0 }: Input) => available_at > deps.clock.now(),
    answersActive: ({ active }: Thread, input: Input) => isAnswerTo(active?.run_id, input),
    executes: ({ active }: Thread, { decided }: Decision) => decided.run_id === active?.run_id,
    holds: isSuspendedHere,
    awaitsTasks,
    holdsAwaiting: (thread: Thread, task: TaskUpdate) =>
      isSuspendedHere(thread, task) && awaitsTasks(thread, task),
    awaitsTasksWhenFull: whenFull(awaitsTasks),
  }),
  actions: bind({
    startRun,
    continueRun,
    enqueue,
    enqueueForeground,
    enqueueInstead,
    enqueueContinuation,
    deliver,
    answer,
    startCleared,
    enqueueCleared,
    replaceOpen,
    keepPendingForeground,
    startPendingForeground,
    refusePendingForeground,
    refuse,
    startNext,
    decide,
    resumeHeld,
    enqueueDecision,
    deliverEvent,
    enqueueWake: enqueueResume,
    wakeHeld,
    keepEvent,
    cancel,
    bumpEpoch: supersedeAll,
    cancelActive,
    interrupt,
    reportTimeout,
    remove,
  }),
  delays: { releaseWait: ({ context }) => context.host.deps.settings.foreground_release_wait_ms },
}).createMachine({ id: 'thread', ...threadChart, context: ({ input }) => input });

/** XState's `and` cannot pass the request to its guards. */
function whenFull<Request>(
  guard: (thread: Thread, request: Request) => boolean,
): (thread: Thread, request: Request) => boolean {
  return (thread, request) => isFull(thread) && guard(thread, request);
}

/**
 * Whether the active run is ending. No further event may be logged for it: its terminal event is the last one in its
 * log.
 */
function isEnding({ active }: Thread): boolean {
  return active !== undefined && !isStoppable(active);
}

/** Whether the input continues a run that only waits: a run whose wait is being written still executes. */
function continuesInactive({ active }: Thread, { continues }: Input): boolean {
  return continues !== undefined && continues.run_id !== active?.run_id;
}

/** A task event is for one run; other input may be. */
function isTaken({ active }: Thread, request: Input | TaskUpdate): boolean {
  if (!active || !takesInput(active)) return false;
  // A task event belongs to its run, regardless of the user that the run acts for.
  if ('messages' in request && !isOfUser(active.run, request)) return false;
  return request.into === undefined || request.into === active.run_id;
}

function isSuspendedHere({ suspended }: Thread, request: Decision | TaskUpdate): boolean {
  const run_id = 'decided' in request ? request.decided.run_id : request.run_id;
  // A run that is no longer driven continues with a dispatch, as after a restart.
  return suspended?.dispatch !== undefined && suspended.run_id === run_id;
}

function awaitsTasks(thread: Thread, { run_id }: TaskUpdate): boolean {
  return isAwaitingTasks(thread, run_id);
}
