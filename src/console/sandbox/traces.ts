import { type Guarded, list, number, object, optional, text } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { pathOf, sendRaw } from '../data/request.ts';

/** Runs of an agent that left a trace. Times are in seconds. */

const TracedRun = object({
  run_id: text,
  agent_id: text,
  started_at: number,
  ended_at: optional(number),
  final_status: optional(text),
});
export type TracedRun = Guarded<typeof TracedRun>;

export const recentRuns = (agentId: string): Resource<{ runs: TracedRun[] }> => ({
  path: '/v1/traces',
  query: { agent_id: agentId, limit: 25 },
  guard: object({ runs: list(TracedRun) }),
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_TRACE_ROUTES' },
});

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
  const starts = events.flatMap(({ started_at_ms }) => started_at_ms ?? []);
  const ends = events.flatMap(({ ended_at_ms }) => ended_at_ms ?? []);
  const from = Math.min(...starts);
  return starts.length === 0 ? { from: 0, to: 0 } : { from, to: Math.max(from, ...ends) };
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
