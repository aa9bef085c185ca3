import type { TraceEvent, TraceSummary } from '../schema/trace.ts';
import { type Connection, call, path, send } from './connection.ts';

/** What observed runs did, event by event. Needs the rights of an admin. */

type Options = { signal?: AbortSignal };

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

export type Traces = {
  /** Of runs that have ended, the newest first. */
  list(filter?: TraceFilter, options?: Options): Promise<TraceSummary[]>;
  /** In their order; pages are asked for as they are needed. @throws NotFound */
  events(runId: string, from?: { offset?: number }, options?: Options): AsyncIterable<TraceEvent, void>;
  /** Keeps it for ever. @throws NotFound */
  pin(runId: string, options?: Options): Promise<void>;
};

export const tracesOf = (connection: Connection): Traces => ({
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
      const told = page.headers.get('x-trace-next-offset');
      next = told === null ? undefined : Number(told);
    }
  },
  async pin(runId, options) {
    await call(connection, 'POST', path`/v1/traces/${runId}/pin`, options);
  },
});
