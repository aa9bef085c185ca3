import { monotonic } from '../schema/clock.ts';
import { inTime } from '../schema/in-time.ts';
import { NotFound, Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import type { Attach } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { createEphemeralRuns, type EphemeralInput, type EphemeralRun } from './ephemeral.ts';
import { quiet } from './ledger.ts';
import { type Maintenance, startMaintenance } from './maintenance.ts';
import { createPendingEdits, type PendingEdits } from './pending-edits.ts';
import { createRecovery } from './recovery.ts';
import { createSubAgents } from './sub-agents.ts';
import type { Accepted, DecisionInput, Submission } from './submission.ts';
import { createSupervisor, type Use } from './supervisor.ts';
import { cancelTarget, NOTHING_TO_CANCEL, nothingOn, targetsOf } from './targets.ts';
import { releaseThread } from './thread-life.ts';
import {
  cancelInThread,
  decideInThread,
  followInThread,
  interruptThread,
  isExecuting,
  isPausing,
  submit,
  viewThread,
} from './thread-requests.ts';
import type { ThreadView } from './thread-view.ts';
import { createThreads, type Threads } from './threads.ts';

export { deniedText } from '../loop/history.ts';
export { answerFiles } from './answer-files.ts';
export type { Attach, Channel, Protocol } from './channel.ts';
export type { ReplaySpans, RunTraces, RuntimeObserver, RunWatch } from './deps.ts';
export type { EphemeralInput, EphemeralRun, WaitingCall } from './ephemeral.ts';
export type { MessageFilter } from './history-ranks.ts';
export { listMessages, type MessageStart, viewed } from './history-view.ts';
export { type HistoryPlace, openHistory, WINDOW_ROWS } from './history-windows.ts';
export type { PendingEdits } from './pending-edits.ts';
export type { Rewind } from './rewind.ts';
export type { DecisionInput, Submission, SubmitMode, UserMessage } from './submission.ts';
export type { ThreadView } from './thread-view.ts';

/**
 * The actors of threads and runs, and everything that may be asked of them.
 *
 * The way of one run, by the names of functions: `submit` asks the actor of the thread (`thread-requests.ts`), whose
 * machine decides (`machines/thread.ts`): `startRun` (`thread-starts.ts`) puts run, dispatch and input into one write
 * (`putWork` in `work.ts`) and `launch`es the execution (`thread-launch.ts`), whose own machine (`machines/run.ts`,
 * bound in `run-services.ts`) calls the loop to `infer`, `act` and `decide`, and `checkpoint`, `park` and `finish`
 * (`run-work.ts`) to make durable what came of it (`run-record.ts`, `write.ts`).
 */
export type Runtime = {
  readonly threads: Threads;
  /** Edits of messages that wait to join a history. */
  readonly pending: PendingEdits;
  /** Runs that tool calls drive. */
  readonly subAgents: SubAgents;
  /** A run of which nothing is stored. @throws Unavailable */
  ephemeral(input: EphemeralInput): EphemeralRun;
  /** The agent of the newest run of a thread. */
  lastAgent(scope: string, thread_id: string): string | undefined;
  /** Hands input to a thread (runtime.md 5.1, 8). Resolves once it is durable. @throws Conflict, NotFound */
  submit(scope: string, thread_id: string, submission: Submission): Promise<Accepted>;
  /**
   * The same for a request that is read against the thread: nothing comes between what `read` sees and what it
   * submits. Undefined when that is nothing. @throws what `read` throws
   */
  admit(
    scope: string,
    thread_id: string,
    read: (thread: ThreadView) => Submission | undefined,
  ): Promise<Accepted | undefined>;
  /**
   * A reader for a run that executes or waits for its turn: it hears the rest of its stream, whatever became of the
   * beginning. False when the run is at rest.
   */
  follow(run: Pick<Run, 'run_id' | 'thread_id'>, scope: string, attach: Attach): Promise<boolean>;
  /** A decision on a suspended call, by the id of a run, a dispatch or a thread. @throws NotFound */
  decide(scope: string, id: string, kind: 'run' | 'thread', decision: DecisionInput): Promise<void>;
  /** By the id of a run, a dispatch or a thread. @throws NotFound when nothing of it can be cancelled */
  cancel(scope: string, id: string, kind: 'run' | 'thread'): Promise<void>;
  /** One run and no other, whatever else has its id. False when it has nothing to cancel any more. */
  cancelRun(scope: string, thread_id: string, run_id: string): Promise<boolean>;
  /** How many queued dispatches were superseded. @throws NotFound when there was nothing to interrupt */
  interrupt(scope: string, thread_id: string): Promise<number>;
  /**
   * Takes up the work that an earlier process left behind, slice by slice, and keeps leases and retention from then
   * on. Nothing is claimed before. Resolves when all of it has been taken up.
   */
  recover(): Promise<void>;
  /** False from the start of `recover` until every interrupted run is known. */
  isReady(): boolean;
  /** Threads with a run that executes, and threads whose runs wait for their turn. */
  work(): { executing: number; waiting: number };
  /**
   * Waits for running runs for so long, then lets them go; the next start takes them up. `waiting` is told for how
   * many, at first and whenever that changes.
   */
  stop(timeoutMs: number, waiting?: (runs: number) => void): Promise<void>;
};

export const createRuntime = (deps: RuntimeDeps): Runtime => {
  const { store } = deps;
  let stopping = false;
  let letGo = false;
  let maintenance: Maintenance | undefined;
  let recovering = false;
  const recovery = createRecovery(deps, () => supervisor);
  const supervisor = createSupervisor(deps, { accepting: () => !stopping, onMake: recovery.meet });
  const ephemeral = createEphemeralRuns(deps);

  const executing = () => supervisor.busy().filter(isExecuting);

  const unlessStopping =
    (use: Use): Use =>
    (scope, thread_id, act) =>
      use(scope, thread_id, (thread) => {
        if (stopping) throw new Unavailable(STOPPING);
        return act(thread);
      });
  const use = unlessStopping(supervisor.use);
  const reach = unlessStopping(supervisor.reach);

  return {
    threads: createThreads(deps, supervisor),
    pending: createPendingEdits(deps, use),
    // A run that is still executing while the service stops may delegate.
    subAgents: createSubAgents(deps, supervisor.use, () => letGo),
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
    async decide(scope, id, kind, decision) {
      for (const { thread_id, ...target } of targetsOf(store, scope, id)) {
        const decided = await use(scope, thread_id, (thread) =>
          decideInThread(thread, { ...decision, ...target }),
        );
        if (decided) return;
      }
      const what = `no open decision '${decision.tool_call_id}'`;
      throw nothingOn({ store, supervisor }, scope, { id, kind, what });
    },
    async cancel(scope, id, kind) {
      const { thread_id, run_id } = await cancelTarget({ store, supervisor }, scope, id, kind);
      const reached = await use(scope, thread_id, (thread) => cancelInThread(thread, run_id));
      if (!reached) throw nothingOn({ store, supervisor }, scope, { id, kind, what: NOTHING_TO_CANCEL });
    },
    cancelRun: (scope, thread_id, run_id) =>
      use(scope, thread_id, (thread) => cancelInThread(thread, run_id)),
    async interrupt(scope, thread_id) {
      if (!supervisor.record(scope, thread_id)) throw new NotFound(`thread not found: ${thread_id}`);
      const superseded = await use(scope, thread_id, interruptThread);
      if (superseded === undefined) throw new NotFound(`nothing to interrupt on thread '${thread_id}'`);
      return superseded;
    },
    recover() {
      recovering = true;
      maintenance = startMaintenance(deps, supervisor);
      return recovery.begin();
    },
    isReady: () => !recovering || recovery.isKnown(),
    work: () => ({ executing: executing().length, waiting: supervisor.inLine() }),
    async stop(timeoutMs, waiting = () => {}) {
      stopping = true;
      recovery.stop();
      ephemeral.close();
      maintenance?.stop();
      supervisor.stopTasks();
      const deadline = monotonic(deps.clock) + timeoutMs;
      // What waits for its next attempt does nothing that could be waited for.
      const underWay = () => executing().filter((thread) => !isPausing(thread)).length + ephemeral.live();
      let told = 0;
      for (let runs = underWay(); runs > 0 && monotonic(deps.clock) < deadline; runs = underWay()) {
        if (runs !== told) waiting(runs);
        told = runs;
        await pause(20);
      }
      letGo = true;
      const busy = supervisor.busy();
      for (const thread of busy) releaseThread(thread, STOPPING);
      ephemeral.release(STOPPING);
      supervisor.abandoned.endStreams(STOPPING);
      // A run whose end is being written has its last frame when that is durable. A disk that hangs holds nobody.
      await inTime(Promise.all(busy.map(({ ledger }) => quiet(ledger))), LAST_COMMITS_MS);
      // One turn of the loop: the last frames reach their buffers.
      await pause(0);
    },
  };
};

const STOPPING = 'service is shutting down';

/** For commits that are under way when everything else is let go. */
const LAST_COMMITS_MS = 10_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
