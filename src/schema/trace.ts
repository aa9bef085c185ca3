import { z } from 'zod';
import type { JsonObject } from './endpoint.ts';
import { ListedRun } from './run.ts';

/** Traces of runs as stored and served (evals-and-traces.md 9). */

export const TRACE_EVENT_TYPES = [
  'inference',
  'tool',
  'suspension',
  'handoff',
  'delegation',
  'evaluation_result',
  'background_task',
] as const;

/**
 * One line of a trace: its type, the context of the run, and the fields of the type, flat (evals-and-traces.md 9.8).
 * `ts` is in seconds since the epoch.
 *
 * @example
 * ```ts
 * const isSlow = (event: TraceEvent): boolean =>
 *   event.type === 'inference' && Number(event.duration_ms) > 10_000;
 * for await (const event of client.traces.events('run-1')) if (isSlow(event)) console.log(event.ts);
 * ```
 */
export type TraceEvent = { type: (typeof TRACE_EVENT_TYPES)[number]; kind: string; ts: number } & JsonObject;

/** The entry of a trace in a list. */
export const TraceSummary = z
  .object({
    run_id: z.string(),
    agent_id: z.string(),
    started_at: z.int().meta({ description: 'seconds since the epoch; 0 when unknown' }),
    ended_at: z.int().nullable(),
    prompt_ids: z.array(z.string()),
    experiment_id: z.string().optional(),
    variant_name: z.string().optional(),
    final_status: z.enum(['ok', 'error']).meta({
      description:
        '`error` if any call of the run failed, even if the run completed; see `run` for its outcome',
    }),
    tool_errors: z.int().optional().meta({ description: 'failed tool calls; omitted if there is none' }),
    judge_score: z.number().optional(),
    run: ListedRun.nullable().optional().meta({
      description:
        'with `run=true`: the run with its `preview`; null for a replay of an evaluation, which is not stored',
    }),
  })
  .meta({ id: 'TraceSummary', description: 'Metadata of a trace.' });
/**
 * The entry of a trace in a list (evals-and-traces.md 9.2). Times are in seconds since the epoch.
 *
 * @example
 * ```ts
 * const secondsOf = ({ started_at, ended_at }: TraceSummary): number | undefined =>
 *   ended_at === null ? undefined : ended_at - started_at;
 * for (const trace of await client.traces.list({ limit: 10 })) console.log(trace.run_id, secondsOf(trace));
 * ```
 */
export type TraceSummary = z.infer<typeof TraceSummary>;

export const TraceList = z
  .object({
    runs: z.array(TraceSummary),
    total: z.int().optional().meta({ description: 'with `run=true`: number of traces that are examined' }),
    searched: z.int().optional().meta({
      description: 'with `run=true`: how many of `total` were examined up to the end of this page',
    }),
    has_more: z.boolean().optional(),
    next_cursor: z.string().nullable().optional(),
  })
  .meta({ id: 'TraceList', description: 'Traces, newest first.' });
/**
 * One page of found traces (evals-and-traces.md 9.2). `next_cursor` is the start of the next page, null on the last one.
 *
 * @example
 * ```ts
 * const { runs, total }: TracePage = await client.traces.search({ outcome: ['failed'], limit: 10 });
 * console.log(`${runs.length} of ${total} traces`);
 * ```
 */
export type TracePage = Required<z.infer<typeof TraceList>>;

/** The verdict of a judge on an answer. */
export type EvaluationResult = {
  name: string;
  score_label?: string;
  score_value?: number;
  explanation?: string;
  response_id?: string;
  error_type?: string;
};
