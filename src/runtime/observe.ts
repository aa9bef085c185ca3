import { monotonic } from '../schema/clock.ts';
import type { Dispatch, RunOutcome } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { outcomeOf, statusReason } from './ending.ts';

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
    /** Of the agent that the run is with at the end. */
    model_id: string;
    /** It began with this execution. */
    isWhole: boolean;
    dispatch: Dispatch | undefined;
  },
): void => {
  const outcome = outcomeOf(ended.how, ended.run, ended.dispatch, ended.failure);
  const runtime = (monotonic(clock) - ended.startedAt) / 1000;
  observe.runs.ended(outcome, runtime);
  const { status, started_at } = ended.run;
  if (ended.how === 'ended' && status !== 'waiting') {
    // What came before this execution is told by the wall clock.
    const since = started_at === undefined ? 0 : clock.now() / 1000 - started_at;
    observe.runs.sessionEnded(ended.isWhole ? runtime : Math.max(runtime, since));
  }
  const what = ended.how === 'released' ? 'run let go' : status === 'waiting' ? 'run waits' : 'run ended';
  logRun(log, what, { run: ended.run, model_id: ended.model_id, outcome, seconds: runtime });
  if (!ended.dispatch) return;
  // Dispatches may be older than this process; what they waited is told by the wall clock.
  const enqueueToComplete = Math.max(0, clock.now() - ended.dispatch.created_at) / 1000;
  observe.mailbox.completed(outcome, {
    enqueueToComplete,
    runtime,
  });
};

/** Its execution pauses until somebody decides, or something happens. */
export const observeWait = (
  { clock, log }: Deps,
  { run, model_id, startedAt }: { run: Run; model_id: string; startedAt: number },
): void =>
  logRun(log, 'run waits', {
    run,
    model_id,
    outcome: undefined,
    seconds: (monotonic(clock) - startedAt) / 1000,
  });

type Told = { run: Run; model_id: string; outcome: RunOutcome | undefined; seconds: number };

const logRun = (log: Deps['log'], what: string, { run, model_id, outcome, seconds }: Told): void => {
  const { run_id, thread_id, agent_id, input_tokens, output_tokens, cut_off } = run;
  const reason = reasonOf(run);
  log.info(
    {
      run_id,
      thread_id,
      agent_id,
      model_id,
      outcome,
      reason,
      input_tokens,
      output_tokens,
      ...(cut_off && { cut_off }),
      seconds,
    },
    what,
  );
};

/** A code, never what somebody said: what a plugin blocks a run with, and what a provider fails with, are texts. */
const reasonOf = ({ status, waiting, termination_reason: termination }: Run): string | undefined => {
  if (status === 'waiting') return waiting?.reason;
  if (!termination || termination.type === 'blocked') return termination?.type;
  return statusReason(termination);
};
