import { monotonic } from '../../schema/clock.ts';
import type { ListedRun, RunningRun } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { deliverTaskEvent, settleChildRun, settleRunning } from '../thread/requests.ts';
import type { Supervisor } from '../thread/supervisor.ts';
import { wakeThread } from '../thread/timer.ts';
import { createSearch, type FoundThread, type Search } from './recovery-search.ts';
import { ITEMS_A_TICK, inSlices } from './slices.ts';

/**
 * Resumes the work of an earlier process (runtime.md 17). Creating the actor of a thread reclaims dispatches of dead
 * workers, waking it starts queued work: each run continues from the state in its record. Waiting runs stay unchanged,
 * except those that wait for background tasks: the tasks died with their process, and the run is notified. Runs of
 * sub-agents end with the call that drove them. A run that is listed as running and has no open dispatch is ended
 * (`stray-runs.ts`).
 *
 * Guarantees: nothing is claimed before `begin`; the work is split into slices that yield to the event loop; a failure
 * for one thread is logged with its id, and that thread is skipped. Threads are resumed in the order in which their
 * work arrived.
 */

export type Recovery = Pick<Search, 'isKnown' | 'onActorCreated'> & {
  /** Resolves when all work has been resumed, or `stop` was called. */
  begin(): Promise<void>;
  stop(): void;
};

type Deps = Pick<RuntimeDeps, 'store' | 'log' | 'clock' | 'observe'>;

export const createRecovery = (deps: Deps, supervisor: () => Pick<Supervisor, 'use'>): Recovery => {
  const { store, log } = deps;
  const search = createSearch(deps);
  const actions = createActions(deps, supervisor);
  let stopped = false;
  const isStopped = (): boolean => stopped;

  const wakeAll = async (): Promise<void> => {
    let after: ListedRun | undefined;
    while (!stopped) {
      const page = store.awaiting.all(after, ITEMS_A_TICK);
      await Promise.all(page.map(actions.wake));
      after = page.at(-1);
      if (after === undefined) return;
    }
  };

  return {
    isKnown: search.isKnown,
    onActorCreated: search.onActorCreated,
    async begin() {
      const threads = await search.findThreads(isStopped);
      const strays = await search.findStrays(isStopped);
      // Children come first, since their parents may start others when they continue.
      await inSlices(search.takeChildren(), actions.resumeChild, { isStopped });
      await inSlices(strays, actions.endStray, { isStopped });
      const report = progressReporter(deps, threads.length);
      await inSlices(threads, actions.resumeThread, { isStopped, report });
      await wakeAll();
      if (threads.length > 0) log.info('recovery.finished', { threads: threads.length });
    },
    stop() {
      stopped = true;
    },
  };
};

type Actions = {
  resumeThread(thread: FoundThread): Promise<void>;
  /** If the run was executing, creating the actor of its thread has already ended it. */
  resumeChild(run: ListedRun): Promise<void>;
  /** A run that this process has started in the meantime is in the list too, and is left unchanged. */
  endStray(run: RunningRun): Promise<void>;
  /** Notifies a run that its background tasks are lost. */
  wake(run: ListedRun): Promise<void>;
};

/** None of them rejects: a failure is logged. */
const createActions = (
  { store, log }: Pick<Deps, 'store' | 'log'>,
  supervisor: () => Pick<Supervisor, 'use'>,
): Actions => ({
  async resumeThread({ scope, thread_id }) {
    try {
      await supervisor().use(scope, thread_id, wakeThread);
    } catch (err) {
      log.error('recovery.thread_failed', { err, thread_id });
    }
  },
  async resumeChild({ scope, thread_id, run_id }) {
    try {
      await supervisor().use(scope, thread_id, (thread) => settleChildRun(thread, run_id));
    } catch (err) {
      log.error('recovery.subagent_failed', { err, thread_id, run_id });
    }
  },
  async endStray({ scope, run_id }) {
    const thread_id = store.runs.get(scope, run_id)?.thread_id;
    if (thread_id === undefined) return;
    try {
      const ended = await supervisor().use(scope, thread_id, (thread) => settleRunning(thread, run_id));
      if (ended) log.warn('recovery.run_ended', { thread_id, run_id });
    } catch (err) {
      log.error('recovery.run_not_ended', { err, thread_id, run_id });
    }
  },
  async wake({ scope, thread_id, run_id }) {
    try {
      await supervisor().use(scope, thread_id, (thread) => deliverTaskEvent(thread, { run_id, staged() {} }));
    } catch (err) {
      log.error('recovery.wake_failed', { err, thread_id, run_id });
    }
  },
});

/** Interval of the progress log. */
const REPORT_MS = 1000;

/** Logs progress only if it takes longer than a second; shorter recoveries log only their end. */
const progressReporter = (
  { clock, log }: Pick<Deps, 'clock' | 'log'>,
  threads: number,
): ((done: number) => void) => {
  let reportedAt = monotonic(clock);
  return (done) => {
    if (monotonic(clock) - reportedAt < REPORT_MS) return;
    reportedAt = monotonic(clock);
    log.info('recovery.progress', { done, threads });
  };
};
