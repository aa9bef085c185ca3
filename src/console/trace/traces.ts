import { max, min } from 'd3-array';
import { type Guarded, list, number, object, optional, text, withDefault } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { pathOf, sendRaw } from '../data/request.ts';

/** Runs of an agent that left a trace. Times are in seconds. */

const TracedRun = object({
  run_id: text,
  agent_id: text,
  started_at: number,
  ended_at: optional(number),
  final_status: optional(text),
  prompt_ids: withDefault(list(text), []),
  experiment_id: optional(text),
  variant_name: optional(text),
  judge_score: optional(number),
});
export type TracedRun = Guarded<typeof TracedRun>;

/** What the service filters by; it refuses anything else. */
export type TraceFilter = {
  agent_id?: string | undefined;
  prompt_id?: string | undefined;
  experiment_id?: string | undefined;
  variant_name?: string | undefined;
  /** RFC 3339. */
  since?: string | undefined;
};

/** The newest first. */
export const tracedRuns = (filter: TraceFilter, limit: number): Resource<{ runs: TracedRun[] }> => ({
  path: '/v1/traces',
  query: { ...filter, limit },
  guard: object({ runs: list(TracedRun) }),
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_TRACE_ROUTES' },
});

export const recentRuns = (agentId: string): Resource<{ runs: TracedRun[] }> =>
  tracedRuns({ agent_id: agentId }, 25);

const TraceEvent = object({
  type: text,
  started_at_ms: optional(number),
  ended_at_ms: optional(number),
  duration_ms: optional(number),
  step_index: optional(number),
  name: optional(text),
  model: optional(text),
  error_type: optional(text),
  input_tokens: optional(number),
  output_tokens: optional(number),
});
export type TraceEvent = Guarded<typeof TraceEvent>;

const PAGE = 1000;

/** A line each; the page that is not full is the last. */
const readEvents = async (runId: string, signal: AbortSignal): Promise<unknown[]> => {
  const events: unknown[] = [];
  for (;;) {
    const query = { offset: events.length, limit: PAGE };
    const answer = await sendRaw({ path: pathOf`/v1/traces/${runId}`, query, signal });
    const lines = (await answer.text()).split('\n').filter((line) => line.trim() !== '');
    events.push(...lines.map((line): unknown => JSON.parse(line)));
    if (lines.length < PAGE) return events;
  }
};

export const traceEvents = (runId: string): Resource<TraceEvent[]> => ({
  path: pathOf`/v1/traces/${runId}`,
  guard: list(TraceEvent),
  read: (signal) => readEvents(runId, signal),
});

/** From the first thing that happened to the end of the last, in milliseconds. */
export type Span = { from: number; to: number };

export const spanOf = (events: readonly TraceEvent[]): Span => {
  const from = min(events, ({ started_at_ms }) => started_at_ms);
  const to = max(events, ({ ended_at_ms }) => ended_at_ms);
  return from === undefined ? { from: 0, to: 0 } : { from, to: Math.max(from, to ?? from) };
};

/** Where in the span, as shares of it. */
export const placeIn = (
  { started_at_ms, ended_at_ms }: TraceEvent,
  { from, to }: Span,
): { left: number; width: number } => {
  const length = to - from;
  if (started_at_ms === undefined || length <= 0) return { left: 0, width: 0 };
  const end = ended_at_ms ?? started_at_ms;
  return { left: (started_at_ms - from) / length, width: Math.max(0, end - started_at_ms) / length };
};

/** Milliseconds; undefined while it goes on. */
export const tookOf = ({ started_at, ended_at }: TracedRun): number | undefined =>
  ended_at === undefined ? undefined : Math.max(0, ended_at - started_at) * 1000;

export const tokensOf = (events: readonly TraceEvent[]): { input: number; output: number } => ({
  input: events.reduce((sum, { input_tokens = 0 }) => sum + input_tokens, 0),
  output: events.reduce((sum, { output_tokens = 0 }) => sum + output_tokens, 0),
});
