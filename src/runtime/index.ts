import { NotFound } from '../schema/outcome.ts';
import type { Credential } from '../schema/principal.ts';
import type { Run } from '../schema/run.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import { createSubAgents } from './delegation/sub-agents.ts';
import type { RuntimeDeps } from './deps.ts';
import { type IsConnected, whenConnected } from './maintenance/authorized-calls.ts';
import { type Maintenance, startMaintenance } from './maintenance/index.ts';
import { whenRaised } from './maintenance/paused-runs.ts';
import { createRecovery } from './maintenance/recovery.ts';
import { type EndOfWait, resumeWaits, resumeWaitsOf } from './maintenance/resumed-waits.ts';
import { createEphemeralRuns, type EphemeralInput, type EphemeralRun } from './run/ephemeral.ts';
import type { Attach } from './run/live-channel.ts';
import { type Shutdown, shutDown } from './shutdown.ts';
import { cancelMatching } from './thread/cancel-runs.ts';
import { createPendingEdits, type PendingEdits } from './thread/pending-edits.ts';
import {
  cancelInThread,
  followInThread,
  interruptThread,
  isExecuting,
  submit,
  untilInactive,
  viewThread,
} from './thread/requests.ts';
import type { Accepted, KeyedDecision, Submission } from './thread/submission.ts';
import { createSupervisor } from './thread/supervisor.ts';
import { cancelTarget, decideTarget } from './thread/targets.ts';
import { createThreads, type Threads } from './thread/threads.ts';
import type { ThreadView } from './thread/view.ts';

export { deniedText } from '../loop/history.ts';
export { answerFiles } from './delegation/answer-files.ts';
export type {
  BudgetMeter,
  EndedLeg,
  LegBook,
  ReplaySpans,
  RunTraces,
  RuntimeObserver,
  RunWatch,
  UsageBook,
  WithdrawnText,
  WrittenRun,
} from './deps.ts';
export type { MessageFilter } from './ledger/history-ranks.ts';
export { listMessages, type MessageStart, viewed } from './ledger/history-view.ts';
export { type HistoryPosition, openHistory, WINDOW_ROWS } from './ledger/history-windows.ts';
export { readInference } from './ledger/recorded-inference.ts';
export type { Rewind } from './ledger/rewind.ts';
export type { EphemeralInput, EphemeralRun, WaitingCall } from './run/ephemeral.ts';
export type { Attach, Channel, Protocol } from './run/live-channel.ts';
export { startOf, syntheticFinish } from './run/outcome.ts';
export { ADMIN, spenderOf } from './run/payer.ts';
export type { PendingEdits } from './thread/pending-edits.ts';
export type {
  Accepted,
  DecisionInput,
  ImportedMessage,
  Submission,
  SubmitMode,
  ThreadFields,
  UserMessage,
} from './thread/submission.ts';
export type { Appended, NewThread } from './thread/threads.ts';
export type { ThreadView } from './thread/view.ts';

/**
 * The actors of threads and runs, and the operations on them.
 *
 * The path of one run:
 * 1. Accept: `submit` (`thread/requests.ts`) validates the input and sends it to the actor of the thread, whose machine
 *    decides (`machines/thread.ts`). The action that it chooses is a function in `thread/accept-input.ts`.
 * 2. Schedule: `scheduleNewRun` or `scheduleContinuation` (`thread/schedule-run.ts`) puts run, dispatch and input into
 *    one write.
 * 3. Commit: `launchInput`, or `startNext` for queued work (`thread/launch.ts`), adds the first events of the execution
 *    to the write and commits it (`ledger/commit.ts`).
 * 4. Start: `startActor` (`run/actor.ts`) starts the machine of the run (`machines/run.ts`, bound in `run/services.ts`).
 *    It calls the loop to `infer`, `act` and `decide`, and `checkpoint`, `park` and `finish` (`run/commit-steps.ts`) to
 *    make the results durable.
 */
export type Runtime = {
  readonly threads: Threads;
  /** Edits of messages that are pending for a history. */
  readonly pending: PendingEdits;
  /** Runs that are driven by tool calls. */
  readonly subAgents: SubAgents;
  /** Starts a run of which nothing is stored. @throws Unavailable */
  ephemeral(input: EphemeralInput): EphemeralRun;
  /** Returns the agent of the newest run of a thread. */
  lastAgent(scope: string, thread_id: string): string | undefined;
  /** Submits input to a thread (runtime.md 5.1, 8). Resolves once it is durable. @throws Conflict, NotFound */
  submit(scope: string, thread_id: string, submission: Submission): Promise<Accepted>;
  /**
   * Like `submit`, for a request that depends on the state of the thread: no other change happens between `read` and
   * its submission. Undefined when `read` returns undefined. @throws the errors of `read`
   */
  admit(
    scope: string,
    thread_id: string,
    read: (thread: ThreadView) => Submission | undefined,
  ): Promise<Accepted | undefined>;
  /**
   * Attaches a reader to the rest of the stream of a run that executes or waits for a concurrency slot. Resolves to
   * false when the run is inactive.
   */
  follow(run: Pick<Run, 'run_id' | 'thread_id'>, scope: string, attach: Attach): Promise<boolean>;
  /** Applies a decision to a suspended call, by the id of a run, a dispatch or a thread. @throws NotFound */
  decide(scope: string, id: string, kind: 'run' | 'thread', decision: KeyedDecision): Promise<void>;
  /** Cancels by the id of a run, a dispatch or a thread. @throws NotFound when nothing can be cancelled */
  cancel(scope: string, id: string, kind: 'run' | 'thread'): Promise<void>;
  /** Cancels exactly this run, even if the id has other meanings. False when there is nothing left to cancel. */
  cancelRun(scope: string, thread_id: string, run_id: string): Promise<boolean>;
  /** Resolves when the run has ended or waits; at once if it is not of this process. */
  untilInactive(scope: string, thread_id: string, run_id: string): Promise<void>;
  /** Cancels the open runs of a scope, of all owners, whose input these credentials gave. */
  cancelRunsOf(scope: string, isMeant: (credential: Credential) => boolean): Promise<void>;
  /** Resumes the calls of all runs whose accounts are connected, of which `isConnected` decides. */
  resumeAuthorized(isConnected: IsConnected): Promise<void>;
  /** The same for one run, which has just been stored. */
  resumeCallsOf(scope: string, run: Run, isConnected: IsConnected): Promise<void>;
  /** Resumes the runs whose budgets were raised or no longer apply. */
  resumePaused(): Promise<void>;
  /** The same for one run, which has just been stored. */
  resumeIfRaised(scope: string, run: Run): Promise<void>;
  /** Returns the number of superseded dispatches. @throws NotFound when there was nothing to interrupt */
  interrupt(scope: string, thread_id: string): Promise<number>;
  /**
   * Resumes the work of an earlier process in slices, and maintains leases and retention from then on. No work is
   * claimed before this call. Resolves when all of the work has been resumed.
   */
  recover(): Promise<void>;
  /** False from the start of `recover` until every interrupted run is known. */
  isReady(): boolean;
  /** The numbers of threads with an executing run, and of threads whose runs wait for a concurrency slot. */
  work(): { executing: number; waiting: number };
  /**
   * Waits for running runs up to the timeout, then releases them; the next start resumes them. `waiting` receives the
   * number of running runs initially and after each change.
   */
  stop(timeoutMs: number, waiting?: (runs: number) => void): Promise<void>;
};

export function createRuntime(deps: RuntimeDeps): Runtime {
  const service: Shutdown = { phase: 'running' };
  let maintenance: Maintenance | undefined;
  const recovery = createRecovery(deps, () => supervisor);
  const supervisor = createSupervisor(deps, {
    accepting: () => service.phase === 'running',
    onMake: recovery.onActorCreated,
  });
  const ephemeral = createEphemeralRuns(deps);
  const { use, reach } = supervisor.outside;
  const places = { store: deps.store, supervisor };
  const resume = (ends: EndOfWait) => resumeWaits({ ...places, log: deps.log }, ends);
  const resumeOne = (scope: string, run: Run, ends: EndOfWait) =>
    resumeWaitsOf({ ...places, log: deps.log }, scope, run, ends);
  const isRaised = whenRaised(deps);

  const threads = createThreads(deps, supervisor);
  return {
    threads,
    pending: createPendingEdits(deps, use),
    // A run that is still executing while the service stops may delegate.
    subAgents: createSubAgents(deps, supervisor.use, () => service.phase === 'released'),
    ephemeral: ephemeral.start,
    lastAgent: (scope, thread_id) => supervisor.record(scope, thread_id)?.agent_id,
    submit: (scope, thread_id, submission) => use(scope, thread_id, (thread) => submit(thread, submission)),
    admit: (scope, thread_id, read) =>
      use(scope, thread_id, (thread) => {
        const submission = read(viewThread(thread));
        return submission && submit(thread, submission);
      }),
    follow: ({ run_id, thread_id }, scope, attach) =>
      reach(scope, thread_id, (thread) => followInThread(thread, run_id, attach)),
    decide: (scope, id, kind, decision) => decideTarget(places, scope, { id, kind }, decision),
    cancel: (scope, id, kind) => cancelTarget(places, scope, { id, kind }),
    cancelRun: (scope, thread_id, run_id) =>
      use(scope, thread_id, (thread) => cancelInThread(thread, run_id)),
    untilInactive: (scope, thread_id, run_id) =>
      reach(scope, thread_id, async (thread) => {
        await untilInactive(thread, run_id);
      }),
    cancelRunsOf: (scope, isMeant) =>
      cancelMatching(places, scope, ({ credential }) => credential !== undefined && isMeant(credential)),
    resumeAuthorized: (isConnected) => resume(whenConnected(isConnected)),
    resumeCallsOf: (scope, run, isConnected) => resumeOne(scope, run, whenConnected(isConnected)),
    resumePaused: () => resume(isRaised),
    resumeIfRaised: (scope, run) => resumeOne(scope, run, isRaised),
    async interrupt(scope, thread_id) {
      if (!supervisor.record(scope, thread_id)) throw new NotFound(`thread not found: ${thread_id}`);
      const superseded = await use(scope, thread_id, interruptThread);
      if (superseded === undefined) throw new NotFound(`nothing to interrupt on thread '${thread_id}'`);
      return superseded;
    },
    recover() {
      maintenance = startMaintenance(deps, supervisor, threads);
      return recovery.begin();
    },
    // Without maintenance, `recover` was not called: there is nothing to wait for.
    isReady: () => maintenance === undefined || recovery.isKnown(),
    work: () => ({
      executing: supervisor.busy().filter(isExecuting).length,
      waiting: supervisor.waitingForSlot(),
    }),
    stop: (timeoutMs, waiting = () => {}) =>
      shutDown({ deps, service, recovery, maintenance, supervisor, ephemeral }, timeoutMs, waiting),
  };
}
