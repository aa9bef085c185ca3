import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { outcomeOf } from './ending.ts';

/** Counts and times of executions, and a line of the log for each end. */

type Deps = Pick<RuntimeDeps, 'clock' | 'observe' | 'log'>;

export const observeStart = ({ clock, observe }: Deps, dispatch: Dispatch | undefined): void => {
  if (!dispatch) return;
  const now = clock.now();
  observe.mailbox.started({
    enqueueToStart: Math.max(0, now - dispatch.created_at) / 1000,
    eligibleToStart: Math.max(0, now - Math.max(dispatch.created_at, dispatch.available_at)) / 1000,
    claimToStart: Math.max(0, now - dispatch.updated_at) / 1000,
  });
};

export const observeEnd = (
  { clock, observe, log }: Deps,
  ended: {
    how: 'ended' | 'released';
    startedAt: number;
    failure: unknown;
    run: Run;
    /** It began with this execution. */
    isWhole: boolean;
    dispatch: Dispatch | undefined;
  },
): void => {
  const outcome = outcomeOf(ended.how, ended.run, ended.dispatch, ended.failure);
  const runtime = (monotonic(clock) - ended.startedAt) / 1000;
  observe.runs.ended(outcome, runtime);
  const { run_id, thread_id, agent_id, status, started_at } = ended.run;
  if (ended.how === 'ended' && status !== 'waiting') {
    // What came before this execution is told by the wall clock.
    const since = started_at === undefined ? 0 : clock.now() / 1000 - started_at;
    observe.runs.sessionEnded(ended.isWhole ? runtime : Math.max(runtime, since));
  }
  const what = ended.how === 'released' ? 'run let go' : status === 'waiting' ? 'run waits' : 'run ended';
  log.info({ run_id, thread_id, agent_id, outcome, seconds: runtime }, what);
  if (!ended.dispatch) return;
  // Dispatches may be older than this process; what they waited is told by the wall clock.
  const enqueueToComplete = Math.max(0, clock.now() - ended.dispatch.created_at) / 1000;
  observe.mailbox.completed(outcome, {
    enqueueToComplete,
    runtime,
  });
};
