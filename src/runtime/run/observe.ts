import type { RunEnded } from '../../../machines/dispatch.ts';
import { monotonic } from '../../schema/clock.ts';
import type { Dispatch, RunOutcome } from '../../schema/dispatch.ts';
import type { Run } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { RuntimeDeps } from '../deps.ts';
import { outcomeOf, statusReason } from './outcome.ts';

/** Counts and times executions, and logs a line for each end. */

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
    /** How the run has left its dispatch; ignored for a released run. */
    end: RunEnded;
    run: RunRecord;
    /** The model of the agent that the run has at its end. */
    model_id: string;
    /** Whether the run started with this execution. */
    isWhole: boolean;
    dispatch: Dispatch | undefined;
  },
): void => {
  const outcome =
    ended.how === 'released' ? 'transient_error' : outcomeOf(ended.run, ended.dispatch, ended.end);
  const runtime = (monotonic(clock) - ended.startedAt) / 1000;
  observe.runs.ended(outcome, runtime);
  const { run_id, agent_id: agent, started_at, termination_reason } = ended.run;
  if (ended.how === 'ended') {
    // Time before this execution is measured by the wall clock.
    const since = started_at === undefined ? 0 : clock.now() / 1000 - started_at;
    observe.runs.sessionEnded(ended.isWhole ? runtime : Math.max(runtime, since), {
      agent,
      run_id,
      termination: termination_reason?.type ?? 'natural_end',
    });
  }
  const event = ended.how === 'released' ? 'run.released' : 'run.ended';
  logRun(log, event, { run: ended.run, model_id: ended.model_id, outcome, seconds: runtime });
  if (!ended.dispatch) return;
  // Dispatches may be older than this process, so their wait is measured by the wall clock.
  const enqueueToComplete = Math.max(0, clock.now() - ended.dispatch.created_at) / 1000;
  observe.mailbox.completed(outcome, {
    enqueueToComplete,
    runtime,
  });
};

/** Logs that the execution pauses until a decision or an event arrives. */
export const observeWait = (
  { clock, log }: Deps,
  { run, model_id, startedAt }: { run: Run; model_id: string; startedAt: number },
): void =>
  logRun(log, 'run.waiting', {
    run,
    model_id,
    outcome: undefined,
    seconds: (monotonic(clock) - startedAt) / 1000,
  });

type RunReport = { run: Run; model_id: string; outcome: RunOutcome | undefined; seconds: number };

type RunLogEvent = 'run.ended' | 'run.waiting' | 'run.released';

const logRun = (
  log: Deps['log'],
  event: RunLogEvent,
  { run, model_id, outcome, seconds }: RunReport,
): void => {
  const { run_id, thread_id, agent_id, input_tokens, output_tokens, cut_off } = run;
  const reason = reasonOf(run);
  log.info(event, {
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
  });
};

/** Returns a code, never free text: the reasons of plugins that block a run and of provider failures are free text. */
const reasonOf = ({ status, waiting, termination_reason: termination }: Run): string | undefined => {
  if (status === 'waiting') return waiting?.reason;
  if (!termination || termination.type === 'blocked') return termination?.type;
  return statusReason(termination);
};
