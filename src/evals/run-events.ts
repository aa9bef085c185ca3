import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { PlanKind } from './plan.ts';

/** What the event log tells of an eval run, under its id (evals-and-traces.md 8.1). */

type Started = {
  eval_run_id: string;
  dataset_id: string;
  dataset_revision: number;
  mode: PlanKind;
  started_at_secs: number;
};

export type EvalRunStarted = Started & { planned_item_count: number };

export type EvalRunEnded = Started & {
  item_count: number;
  passed_count: number;
  failed_count: number;
  /** Of the cells whose cost is known. */
  total_cost_usd: number;
  ended_at_secs: number;
  persisted: boolean;
};

/** The log of a run has these two places, so that none of them is ever written twice. */
export const PLACES = { EvalRunStarted: 1, EvalRunCompleted: 2, EvalRunCancelled: 2 } as const;

export const evalRunEvent = (
  event_kind: keyof typeof PLACES,
  payload: EvalRunStarted | EvalRunEnded,
  made: { event_id: string; created_at: number },
): LoggedEvent => ({
  ...made,
  event_kind,
  payload,
  run_id: payload.eval_run_id,
  correlation_id: payload.eval_run_id,
  origin: 'eval',
  visibility: 'internal',
});
