import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { EVENT_KINDS } from '../schema/event-kinds.ts';
import type { PlanKind } from './plan.ts';

/** Events of an eval run in the event log, under the id of the run (evals-and-traces.md 8.1). */

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
  /** Sum of the known costs. */
  total_cost_usd: number;
  ended_at_secs: number;
  persisted: boolean;
};

/** The log of a run has these two positions, so that no event is ever written twice. */
export const PLACES = {
  EvalRunStarted: 1,
  EvalRunCompleted: 2,
  EvalRunCancelled: 2,
} as const satisfies Record<keyof typeof EVENT_KINDS.eval, number>;

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
