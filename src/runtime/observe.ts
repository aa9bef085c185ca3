import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { outcomeOf } from './ending.ts';
import { isStandIn } from './stand-in.ts';

/** Counts and times of executions. */

type Deps = Pick<RuntimeDeps, 'clock' | 'observe'>;

export const observeStart = ({ clock, observe }: Deps, dispatch: Dispatch): void => {
  const now = clock.now();
  observe.runs.started();
  if (isStandIn(dispatch)) return;
  observe.mailbox.started({
    enqueueToStart: Math.max(0, now - dispatch.created_at) / 1000,
    claimToStart: Math.max(0, now - dispatch.updated_at) / 1000,
  });
};

export const observeEnd = (
  { clock, observe }: Deps,
  ended: { how: 'ended' | 'released'; startedAt: number; failure: unknown; run: Run; dispatch: Dispatch },
): void => {
  const outcome = outcomeOf(ended.how, ended.run, ended.dispatch, ended.failure);
  // Dispatches may be older than this process; what they waited is told by the wall clock.
  const enqueueToComplete = Math.max(0, clock.now() - ended.dispatch.created_at) / 1000;
  const runtime = (monotonic(clock) - ended.startedAt) / 1000;
  observe.runs.ended(outcome, runtime);
  if (isStandIn(ended.dispatch)) return;
  observe.mailbox.completed(outcome, {
    enqueueToComplete,
    runtime,
  });
};
