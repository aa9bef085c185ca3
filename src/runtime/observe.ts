import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { outcomeOf } from './ending.ts';
import { isStandIn } from './stand-in.ts';

/** Counts and times of executions, and a line of the log for each end. */

type Deps = Pick<RuntimeDeps, 'clock' | 'observe' | 'log'>;

export const observeStart = ({ clock, observe }: Deps, dispatch: Dispatch): void => {
  const now = clock.now();
  observe.runs.started();
  if (isStandIn(dispatch)) return;
  observe.mailbox.started({
    enqueueToStart: (now - dispatch.created_at) / 1000,
    claimToStart: (now - dispatch.updated_at) / 1000,
  });
};

export const observeEnd = (
  { clock, observe, log }: Deps,
  ended: { how: 'ended' | 'released'; startedAt: number; failure: unknown; run: Run; dispatch: Dispatch },
): void => {
  const outcome = outcomeOf(ended.how, ended.run, ended.dispatch, ended.failure);
  const now = clock.now();
  const runtime = (now - ended.startedAt) / 1000;
  observe.runs.ended(outcome, runtime);
  const { run_id, thread_id, agent_id, status } = ended.run;
  const what = ended.how === 'released' ? 'run let go' : status === 'waiting' ? 'run waits' : 'run ended';
  log.info({ run_id, thread_id, agent_id, outcome, seconds: runtime }, what);
  if (isStandIn(ended.dispatch)) return;
  observe.mailbox.completed(outcome, {
    enqueueToComplete: (now - ended.dispatch.created_at) / 1000,
    runtime,
  });
};
