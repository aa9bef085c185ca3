import type { TraceEvent, TraceSummary } from '../schema/trace.ts';
import { type Connection, call, path, send } from './connection.ts';

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
  /** Yields the events in their order and requests pages on demand. @throws NotFound */
  events(runId: string, from?: { offset?: number }, options?: Options): AsyncIterable<TraceEvent, void>;
  /** Exempts the trace from expiry. @throws NotFound */
  pin(runId: string, options?: Options): Promise<void>;
};

export const createTraces = (connection: Connection): Traces => ({
  list: async (query = {}, { signal } = {}) =>
    (await call<{ runs: TraceSummary[] }>(connection, 'GET', '/v1/traces', { signal, query })).runs,
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
