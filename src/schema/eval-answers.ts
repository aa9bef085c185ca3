import { z } from 'zod';
import { EvalAggregate, EvalDiff, EvalItem, EvalRun, EvalRunSummary } from './eval-run.ts';

/** Responses and streams of eval runs (evals-and-traces.md 6, 8). */

export const EvalRunAnswer = z
  .object({ run: EvalRun, diff: EvalDiff.optional(), aggregates: z.array(EvalAggregate).optional() })
  .meta({ id: 'EvalRunAnswer', description: 'The run with the requested additions.' });
/**
 * An eval run with the requested additions: the `diff` to a baseline, and sums over samples (evals-and-traces.md 6.4,
 * 6.5).
 *
 * @example
 * ```ts
 * const { diff }: EvalRunAnswer = await client.evals.runs.get('run-2', { baseline: 'run-1' });
 * for (const { kind, fixture_id } of diff?.entries ?? []) if (kind === 'regression') console.error(fixture_id);
 * ```
 */
export type EvalRunAnswer = z.infer<typeof EvalRunAnswer>;

export const EvalRunList = z
  .object({ runs: z.array(EvalRunSummary), next_cursor: z.string().optional() })
  .meta({ id: 'EvalRunList', description: 'One page of eval runs.' });
/**
 * One page of eval runs, newest first. The last page has no `next_cursor`.
 *
 * @example
 * ```ts
 * const { runs }: EvalRunList = await client.evals.runs.list({ dataset_id: 'greetings', limit: 10 });
 * console.log(runs.map(({ id, passed_count, item_count }) => `${id}: ${passed_count} of ${item_count}`));
 * ```
 */
export type EvalRunList = z.infer<typeof EvalRunList>;

export const Progress = z
  .object({ planned: z.int(), finished: z.int(), passed: z.int(), failed: z.int() })
  .meta({ id: 'EvalProgress', description: 'Progress of the run.' });
export type Progress = z.infer<typeof Progress>;

/** The `data` of stream events, by event name. */
export const FRAMES = {
  snapshot: z
    .object({ run: EvalRun, progress: Progress })
    .meta({ id: 'EvalSnapshot', description: 'Current items of the run.' }),
  item: z
    .object({ item: EvalItem, progress: Progress })
    .meta({ id: 'EvalItemDone', description: 'A finished item.' }),
  end: z
    .object({ status: z.enum(['done', 'running', 'cancelled']), progress: Progress })
    .meta({ id: 'EvalEnd', description: 'The outcome of the run.' }),
} as const;

export const EvalFrame = z
  .union([FRAMES.snapshot, FRAMES.item, FRAMES.end])
  .meta({ id: 'EvalFrame', description: 'An event of an eval run.' });
/**
 * An event of an eval run (evals-and-traces.md 8.1): its items at the start of the stream, each finished item, or the
 * end, with the progress so far.
 *
 * @example
 * ```ts
 * const describe = (frame: EvalFrame): string => {
 *   if ('item' in frame) return `${frame.item.fixture_id}: ${frame.item.report.passed ? 'passed' : 'failed'}`;
 *   return 'status' in frame ? frame.status : `${frame.progress.planned} items`;
 * };
 * ```
 */
export type EvalFrame = z.infer<typeof EvalFrame>;
