import { fields, list, number, object, optional, text, withDefault } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { type Outgoing, pathOf, sendRaw } from '../data/request.ts';
import { type Paged, pageOf } from '../list/pages.ts';
import { Run } from '../run-records/run.ts';

/** Runs with traces. Times are in seconds. */

const TRACED = {
  run_id: text,
  agent_id: text,
  started_at: number,
  ended_at: optional(number),
  final_status: optional(text),
  tool_errors: withDefault(number, 0),
  prompt_ids: withDefault(list(text), []),
  experiment_id: optional(text),
  variant_name: optional(text),
  judge_score: optional(number),
};

const TracedRun = object(TRACED);
export type TracedRun = ReturnType<typeof TracedRun>;

/** A trace with its run, which a replay of an evaluation does not have. */
const JoinedTrace = object({ ...TRACED, run: optional(Run) });
export type JoinedTrace = ReturnType<typeof JoinedTrace>;

const JoinedPage = pageOf(JoinedTrace, 'runs');

const OFF = { statuses: [404], setting: 'SERVICE_EXPOSE_TRACE_ROUTES' };

/** Traces with their runs, newest first, found by the service. */
export const tracePages = (query: Outgoing['query']): Paged<JoinedTrace> => ({
  path: '/v1/traces',
  query: { run: true, ...query },
  guard: JoinedPage,
  off: OFF,
  idOf: ({ run_id }) => run_id,
});

/** The filters of the service, which rejects any other. */
export type TraceFilter = {
  agent_id?: string | undefined;
  prompt_id?: string | undefined;
  experiment_id?: string | undefined;
  variant_name?: string | undefined;
  /** RFC 3339. */
  since?: string | undefined;
};

/** Newest first. */
export const tracedRuns = (filter: TraceFilter, limit: number): Resource<{ runs: TracedRun[] }> => ({
  path: '/v1/traces',
  query: { ...filter, limit },
  guard: object({ runs: list(TracedRun) }),
  off: OFF,
});

export const recentRuns = (agentId: string): Resource<{ runs: TracedRun[] }> =>
  tracedRuns({ agent_id: agentId }, 25);

const TraceEvent = object({
  type: text,
  ...fields(optional(text), 'agent_id', 'call_id', 'name', 'model', 'error_type'),
  ...fields(optional(number), 'timestamp_ms', 'started_at_ms', 'ended_at_ms', 'duration_ms'),
  ...fields(optional(number), 'step_index', 'input_tokens', 'output_tokens', 'cost_usd'),
});
export type TraceEvent = ReturnType<typeof TraceEvent>;

const PAGE = 1000;

/** Reads one JSON value per line; a page that is not full is the last. */
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

/** The duration in milliseconds; undefined while the run has not ended. */
export const tookOf = ({ started_at, ended_at }: TracedRun): number | undefined =>
  ended_at === undefined ? undefined : Math.max(0, ended_at - started_at) * 1000;
