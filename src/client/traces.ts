import type { RunOutcome } from '../schema/run-query.ts';
import type { TraceEvent, TracePage, TraceSummary } from '../schema/trace.ts';
import { type Connection, call, path, send } from './connection.ts';
import { type Paged, paged } from './pages.ts';

type Options = { signal?: AbortSignal };

/**
 * The traces to list (evals-and-traces.md 9).
 *
 * @example
 * ```ts
 * const filter: TraceFilter = { agent_id: 'default', since: '2026-11-01T00:00:00Z', limit: 20 };
 * for (const { run_id, final_status } of await client.traces.list(filter)) console.log(run_id, final_status);
 * ```
 */
export type TraceFilter = {
  agent_id?: string;
  prompt_id?: string;
  experiment_id?: string;
  variant_name?: string;
  /** RFC 3339, inclusive. */
  since?: string;
  /** Default: all. */
  limit?: number;
};

/**
 * The traces to find, and the size and start of the page (evals-and-traces.md 9.2).
 *
 * @example
 * ```ts
 * const search: TraceSearch = { outcome: ['failed', 'blocked'], q: 'refund', stored: true };
 * for await (const { run_id, run } of client.traces.search(search)) console.log(run_id, run?.status);
 * ```
 */
export type TraceSearch = TraceFilter & {
  outcome?: readonly RunOutcome[];
  /** Words that the input, the ids or the models of the run contain. */
  q?: string;
  /** True excludes replays of evaluations, whose runs are not stored. */
  stored?: boolean;
  cursor?: string;
};

/**
 * Traces of observed runs, event by event: `client.traces`. Requires admin rights.
 *
 * @example
 * ```ts
 * const [latest] = await client.traces.list({ limit: 1 });
 * if (latest) for await (const { type, ts } of client.traces.events(latest.run_id)) console.log(ts, type);
 * ```
 */
export type Traces = {
  /** Lists traces of ended runs, newest first. */
  list(filter?: TraceFilter, options?: Options): Promise<TraceSummary[]>;
  /** Finds traces of ended runs with their runs, newest first, in pages of 50 by default and 200 at most. */
  search(search?: TraceSearch, options?: Options): Paged<TracePage, TraceSummary>;
  /** Yields the events in their order and requests pages on demand. @throws NotFound */
  events(runId: string, from?: { offset?: number }, options?: Options): AsyncIterable<TraceEvent, void>;
  /** Exempts the trace from expiry. @throws NotFound */
  pin(runId: string, options?: Options): Promise<void>;
};

export const createTraces = (connection: Connection): Traces => ({
  list: async (query = {}, { signal } = {}) =>
    (await call<{ runs: TraceSummary[] }>(connection, 'GET', '/v1/traces', { signal, query })).runs,
  search: ({ outcome, stored, cursor, ...filter } = {}, options) =>
    paged(
      (from) =>
        call<TracePage>(connection, 'GET', '/v1/traces', {
          signal: options?.signal,
          query: {
            ...filter,
            run: true,
            // The route accepts `true` only.
            stored: stored || undefined,
            outcome: outcome?.join(','),
            cursor: from,
          },
        }),
      ({ runs }) => runs,
      cursor,
    ),
  async *events(runId, { offset = 0 } = {}, { signal } = {}) {
    for (let next: number | undefined = offset; next !== undefined; ) {
      const page = await send(connection, 'GET', path`/v1/traces/${runId}`, {
        signal,
        query: { offset: next },
      });
      const lines = (await page.text()).split('\n');
      for (const line of lines) if (line !== '') yield JSON.parse(line);
      const nextOffset = page.headers.get('x-trace-next-offset');
      next = nextOffset === null ? undefined : Number(nextOffset);
    }
  },
  async pin(runId, options) {
    await call(connection, 'POST', path`/v1/traces/${runId}/pin`, options);
  },
});
