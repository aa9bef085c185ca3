import type { z } from 'zod';
import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Run, RunList, RunStatus } from '../schema/run.ts';
import { type Connection, call, path } from './connection.ts';
import { type Paged, paged } from './pages.ts';
import { type RunMessage, type RunRequest, type RunStream, streamRun } from './run-stream.ts';

/** Runs: start, follow, read, steer and cancel them. */

export type RunFilter = { status?: RunStatus; threadId?: string; limit?: number; cursor?: string };

/** How input goes in: behind what is queued, into what runs, or in its place. */
export type InputMode = 'queue' | 'steer' | 'interrupt_then_queue' | 'resume_open_run';

export type EventPage = { items: CanonicalEvent[]; next_cursor: string | null; has_more: boolean };

type Options = { signal?: AbortSignal };

export type Runs = {
  /**
   * Starts a run and gives its events; replaces what executes on the thread.
   *
   * @throws InvalidRequest, NotFound, Unavailable, ConnectionLost: when the events are read
   * @example
   * const run = troupe.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
   * for await (const event of run) if (event.event_type === 'text_delta') process.stdout.write(event.delta);
   */
  stream(request: RunRequest, options?: Options): RunStream;
  /** @throws NotFound */
  get(runId: string, options?: Options): Promise<Run>;
  /** The oldest first. */
  list(filter?: RunFilter, options?: Options): Paged<z.infer<typeof RunList>, Run>;
  /** @throws NotFound, also when it has ended */
  cancel(runId: string, options?: Options): Promise<void>;
  /** Input to a run, or to its thread when the run cannot take it. */
  input(
    runId: string,
    input: { messages: readonly RunMessage[]; mode?: InputMode },
    options?: Options,
  ): Promise<{ run_id: string; accepted_run_id: string; dispatch_id: string }>;
  /** The durable events, the oldest first. */
  events(
    runId: string,
    from?: { cursor?: string; limit?: number },
    options?: Options,
  ): Paged<EventPage, CanonicalEvent>;
};

export const runsOf = (connection: Connection): Runs => ({
  stream: (request, options) => streamRun(connection, request, options),
  get: (runId, options) => call(connection, 'GET', path`/v1/runs/${runId}`, options),
  list({ status, threadId, limit, cursor } = {}, options) {
    const target = threadId === undefined ? '/v1/runs' : path`/v1/threads/${threadId}/runs`;
    return paged(
      (from) =>
        call<z.infer<typeof RunList>>(connection, 'GET', target, {
          signal: options?.signal,
          query: { status, limit, cursor: from },
        }),
      ({ items }) => items,
      cursor,
    );
  },
  async cancel(runId, options) {
    await call(connection, 'POST', path`/v1/runs/${runId}/cancel`, options);
  },
  input: (runId, input, options) =>
    call(connection, 'POST', path`/v1/runs/${runId}/inputs`, { signal: options?.signal, body: input }),
  events: (runId, from, options) => eventPages(connection, path`/v1/runs/${runId}/events`, from, options),
});

export const eventPages = (
  connection: Connection,
  target: string,
  { cursor, limit }: { cursor?: string; limit?: number } = {},
  options?: Options,
): Paged<EventPage, CanonicalEvent> =>
  paged(
    (from) =>
      call<EventPage>(connection, 'GET', target, { signal: options?.signal, query: { limit, cursor: from } }),
    ({ items }) => items,
    cursor,
  );
