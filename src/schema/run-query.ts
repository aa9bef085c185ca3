import { endOf } from '../../machines/run-types.ts';
import type { Termination } from './run.ts';

/** Filters and orders of lists of runs, shared by the routes, the store and the console. */

export const RUN_OUTCOMES = ['completed', 'stopped', 'cancelled', 'blocked', 'failed'] as const;
/**
 * How a run ended, in one word (runtime.md 5.2).
 *
 * @example
 * ```ts
 * const outcome: RunOutcome[] = ['failed', 'blocked'];
 * for await (const { run_id } of client.runs.list({ outcome })) console.log(run_id);
 * ```
 */
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export const RUN_SORTS = ['created', '-created', '-changed', '-duration', '-tokens', '-cost'] as const;
/**
 * The order of a list of runs; `-` means that the highest or latest comes first. By duration, tokens and cost, only the
 * 1,000 runs that changed last are sorted (runtime.md 5.2).
 *
 * @example
 * ```ts
 * const sort: RunSort = '-cost';
 * for (const { run_id, cost_usd } of (await client.runs.list({ sort, limit: 5 })).items) console.log(run_id, cost_usd);
 * ```
 */
export type RunSort = (typeof RUN_SORTS)[number];

const OUTCOME: Readonly<Record<Termination['type'], RunOutcome>> = {
  natural_end: 'completed',
  behavior_requested: 'completed',
  suspended: 'completed',
  stopped: 'stopped',
  cancelled: 'cancelled',
  blocked: 'blocked',
  error: 'failed',
};

/** Returns undefined for a run that has not ended, or with a reason that this version does not know. */
export const outcomeOf = (run: {
  status: string;
  termination_reason?: { type: string; value?: unknown } | undefined;
}): RunOutcome | undefined => {
  if (run.status !== 'done') return undefined;
  const termination = run.termination_reason ?? { type: 'natural_end' };
  if (endOf(termination) === 'failed') return 'failed';
  const outcomes: Readonly<Record<string, RunOutcome | undefined>> = OUTCOME;
  return outcomes[termination.type];
};
