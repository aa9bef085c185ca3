import { threadMachine } from '../../machines/thread.ts';
import type { Cancel, Decision, Input, Interrupt, Refusable, Removal, TaskTold } from './requests.ts';
import { isStoppable, takesInput } from './run-control.ts';
import { isSlotFree } from './slots.ts';
import { isAnswerTo } from './submission.ts';
import type { Thread } from './thread.ts';
import { hasQueued } from './thread-alarm.ts';
import { cancel, cancelActive, interrupt, overtakeAll, remove, reportTimeout } from './thread-ends.ts';
import {
  continueRun,
  deliverInput,
  enqueue,
  enqueueCleared,
  enqueueContinuation,
  enqueueForeground,
  enqueueInstead,
  holdClaimant,
  refuse,
  refuseClaimant,
  replaceOpen,
  startClaimant,
  startCleared,
  startNext,
  startRun,
} from './thread-starts.ts';
import {
  answer,
  decide,
  deliverEvent,
  enqueueDecision,
  isAwaitingTasks,
  keepEvent,
  resumeHeld,
  wakeHeld,
  wakeInLine,
} from './thread-waits.ts';
import { continuesOpen, openFor } from './work.ts';

/** The thread machine bound to the thread: which request comes with which event, and what its guards ask. */

type Args = { context: { host: object }; event: { type: string } };

// The host of every thread machine that this room starts is a Thread, and all of its requests are made here.
const threadOf = ({ context }: Args): Thread => context.host as Thread;
const requestOf = <Request>({ event }: Args): Request =>
  (event as { type: string } & { request: Request }).request;

const does =
  (act: (thread: Thread) => void) =>
  (args: Args): void =>
    act(threadOf(args));

const answers =
  <Request extends Refusable>(act: (thread: Thread, request: Request) => void) =>
  (args: Args): void =>
    act(threadOf(args), requestOf<Request>(args));

/** The run that a decision or the news of a task is for. */
const runNamedBy = (request: Decision | TaskTold): string =>
  'decided' in request ? request.decided.run_id : request.run_id;

/** A task event is for one run; other input may be. */
const isTaken = ({ active }: Thread, { into }: Pick<Input, 'into'>): boolean =>
  active !== undefined && takesInput(active) && (into === undefined || into === active.run_id);

/** From then on no event may be logged for it: its terminal event is the last one of its log. */
const isEnding = ({ active }: Thread): boolean => active !== undefined && !isStoppable(active);

const continuesResting = (thread: Thread, request: Input): boolean =>
  continuesOpen(thread, request) && openFor(thread, request)?.run_id !== thread.active?.run_id;

/** Made once a process, since binding a machine is not cheap. */
export const boundThreadMachine: typeof threadMachine = threadMachine.provide({
  guards: {
    hasQueued: (args) => hasQueued(threadOf(args)),
    isFull: (args) => !isSlotFree(threadOf(args).slot),
    hasWaiting: (args) => threadOf(args).ledger.waiting.size > 0,
    continuesOpenRun: (args) => continuesResting(threadOf(args), requestOf<Input>(args)),
    takesInput: (args) => isTaken(threadOf(args), requestOf<Input>(args)),
    isEnding: (args) => isEnding(threadOf(args)),
    isDelayed: (args) => (requestOf<Input>(args).available_at ?? 0) > threadOf(args).deps.clock.now(),
    answersActive: (args) => isAnswerTo(threadOf(args).active?.run_id, requestOf<Input>(args)),
    executes: (args) => requestOf<Decision>(args).decided.run_id === threadOf(args).active?.run_id,
    holds(args) {
      const { held } = threadOf(args);
      // A run that nobody drives any more goes on with a dispatch, as after a restart.
      return held?.dispatch !== undefined && held.run_id === runNamedBy(requestOf<Decision | TaskTold>(args));
    },
    awaitsTasks: (args) => isAwaitingTasks(threadOf(args), requestOf<TaskTold>(args).run_id),
  },
  actions: {
    startRun: answers<Input>(startRun),
    continueRun: answers<Input>(continueRun),
    enqueue: answers<Input>(enqueue),
    enqueueForeground: answers<Input>(enqueueForeground),
    enqueueInstead: answers<Input>(enqueueInstead),
    enqueueContinuation: answers<Input>(enqueueContinuation),
    deliver: answers<Input>(deliverInput),
    refuse: answers<Refusable>(refuse),
    startNext: does(startNext),
    decide: answers<Decision>(decide),
    answer: answers<Input>(answer),
    resumeHeld: answers<Decision>(resumeHeld),
    enqueueDecision: answers<Decision>(enqueueDecision),
    deliverEvent: answers<TaskTold>(deliverEvent),
    enqueueWake: answers<TaskTold>(wakeInLine),
    wakeHeld: answers<TaskTold>(wakeHeld),
    keepEvent: answers<TaskTold>(keepEvent),
    cancel: answers<Cancel>(cancel),
    bumpEpoch: does(overtakeAll),
    interrupt: answers<Interrupt>(interrupt),
    startCleared: answers<Input>(startCleared),
    enqueueCleared: answers<Input>(enqueueCleared),
    cancelActive: does(cancelActive),
    replaceOpen: answers<Input>(replaceOpen),
    holdClaimant: answers<Input>(holdClaimant),
    startClaimant: does(startClaimant),
    refuseClaimant: does((thread) => refuseClaimant(thread)),
    reportTimeout: does(reportTimeout),
    remove: answers<Removal>(remove),
  },
  delays: { releaseWait: (args) => threadOf(args).deps.settings.foreground_release_wait_ms },
});
