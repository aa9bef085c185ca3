import { z } from 'zod';
import { EvalAggregate, EvalDiff, EvalItem, EvalRun, EvalRunSummary } from './eval-run.ts';

/** Eval runs as they are answered and streamed (evals-and-traces.md 6, 8). */

export const EvalRunAnswer = z
  .object({ run: EvalRun, diff: EvalDiff.optional(), aggregates: z.array(EvalAggregate).optional() })
  .meta({ id: 'EvalRunAnswer', description: 'The run, with what was asked for beside it.' });
export type EvalRunAnswer = z.infer<typeof EvalRunAnswer>;

export const EvalRunList = z
  .object({ runs: z.array(EvalRunSummary), next_cursor: z.string().optional() })
  .meta({ id: 'EvalRunList', description: 'One page of eval runs.' });
export type EvalRunList = z.infer<typeof EvalRunList>;

export const Progress = z
  .object({ planned: z.int(), finished: z.int(), passed: z.int(), failed: z.int() })
  .meta({ id: 'EvalProgress', description: 'How far it is.' });
export type Progress = z.infer<typeof Progress>;

/** What the `data` of an event holds, by its name. */
export const FRAMES = {
  snapshot: z
    .object({ run: EvalRun, progress: Progress })
    .meta({ id: 'EvalSnapshot', description: 'What it has so far.' }),
  item: z
    .object({ item: EvalItem, progress: Progress })
    .meta({ id: 'EvalItemDone', description: 'An item that is done.' }),
  end: z
    .object({ status: z.enum(['done', 'running', 'cancelled']), progress: Progress })
    .meta({ id: 'EvalEnd', description: 'How it ended.' }),
} as const;

export const EvalFrame = z
  .union([FRAMES.snapshot, FRAMES.item, FRAMES.end])
  .meta({ id: 'EvalFrame', description: 'What happens in an eval run.' });
export type EvalFrame = z.infer<typeof EvalFrame>;
