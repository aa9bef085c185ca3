import { z } from 'zod';
import type { JsonObject } from './endpoint.ts';

/** Traces of runs as they are stored and served (evals-and-traces.md 9). */

export const TRACE_EVENT_TYPES = [
  'inference',
  'tool',
  'suspension',
  'handoff',
  'delegation',
  'evaluation_result',
  'background_task',
] as const;

/** One line of a trace: its type, the context of the run, and the fields of the type, flat. */
export type TraceEvent = { type: (typeof TRACE_EVENT_TYPES)[number]; kind: string; ts: number } & JsonObject;

/** What a list of traces tells of one. */
export const TraceSummary = z
  .object({
    run_id: z.string(),
    agent_id: z.string(),
    started_at: z.int().meta({ description: 'seconds since the epoch; 0 when unknown' }),
    ended_at: z.int().nullable(),
    prompt_ids: z.array(z.string()),
    experiment_id: z.string().optional(),
    variant_name: z.string().optional(),
    final_status: z.enum(['ok', 'error']),
    judge_score: z.number().optional(),
  })
  .meta({ id: 'TraceSummary', description: 'What a trace is of, without its events.' });
export type TraceSummary = z.infer<typeof TraceSummary>;

export const TraceList = z
  .object({ runs: z.array(TraceSummary) })
  .meta({ id: 'TraceList', description: 'Traces, the newest first.' });

/** What was measured of an answer by somebody who judges it. */
export type EvaluationResult = {
  name: string;
  score_label?: string;
  score_value?: number;
  explanation?: string;
  response_id?: string;
  error_type?: string;
};
