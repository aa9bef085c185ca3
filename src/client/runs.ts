import type { z } from 'zod';
import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { ListedRun, Run, RunList, RunStatus } from '../schema/run.ts';
import type { RunOutcome, RunSort } from '../schema/run-query.ts';
import { type Connection, call, path } from './connection.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';
import type { RunMessage, RunRequest } from './run-request.ts';
import { type RunStream, streamRun } from './run-stream.ts';

/**
 * The runs to list, and the size and start of the page (runtime.md 0.6).
 *
 * @example
 * ```ts
 * const filter: RunFilter = { threadId: 'first', status: 'done', limit: 50 };
 * for await (const { run_id, final_output } of client.runs.list(filter)) console.log(run_id, final_output);
 * ```
 */
export type RunFilter = {
  status?: RunStatus;
  outcome?: readonly RunOutcome[];
  threadId?: string;
  agentId?: string;
  /** RFC 3339, inclusive. */
  createdAfter?: string;
  /** RFC 3339, exclusive. */
  createdBefore?: string;
  /** Words that the input or the ids of the run contain. */
  text?: string;
  sort?: RunSort;
  /** Adds the first words of the input to each run. */
  preview?: boolean;
  limit?: number;
  cursor?: string;
};

/**
 * The delivery of input to a thread that is busy (runtime.md 8). Default: `queue`.
 *
 * - `queue`: a new run, after the current run and earlier input. A waiting run continues.
 * - `steer`: the current run takes the input at its next step.
 * - `interrupt_then_queue`: the current run ends, queued input is dropped, and a new run starts.
 * - `resume_open_run`: a waiting run continues with the input; without one, the request fails with `NotFound`.
 *
 * @example
 * ```ts
 * const mode: InputMode = 'steer';
 * await client.threads.send('first', { messages: [{ role: 'user', content: 'Shorter, please.' }], mode });
 * ```
 */
export type InputMode = 'queue' | 'steer' | 'interrupt_then_queue' | 'resume_open_run';

/**
 * One page of durable events, oldest first. `next_cursor` is the start of the next page, null on the last one.
 *
 * @example
 * ```ts
 * const { items, next_cursor }: EventPage = await client.threads.events('first', { limit: 100 });
 * for (const { event_kind } of items) console.log(event_kind);
 * ```
 */
export type EventPage = { items: CanonicalEvent[]; next_cursor: string | null; has_more: boolean };

type Options = { signal?: AbortSignal };

/**
 * Starts, follows, reads, steers and cancels runs: `client.runs`.
 *
 * @example
 * ```ts
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
 * const { run_id } = await run.ids;
 * console.log(await run.text());
 * const { input_tokens, output_tokens } = await client.runs.get(run_id);
 * ```
 */
export type Runs = {
  /**
   * Starts a run and returns its events; pre-empts the current run of the thread.
   *
   * @throws InvalidRequest, NotFound, Unavailable, ConnectionLost: when the events are read
   * @example
   * ```ts
   * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
   * for await (const event of run) if (event.event_type === 'text_delta') process.stdout.write(event.delta);
   * ```
   */
  stream(request: RunRequest, options?: KeyedOptions): RunStream;
  /** Returns the record of a run. @throws NotFound */
  get(runId: string, options?: Options): Promise<Run>;
  /** Lists runs, oldest first by default. */
  list(filter?: RunFilter, options?: Options): Paged<z.infer<typeof RunList>, ListedRun>;
  /** Cancels a run. @throws NotFound, also if the run has ended */
  cancel(runId: string, options?: Options): Promise<void>;
  /** Sends input to a run, or to its thread if the run cannot accept it. */
  input(
    runId: string,
    input: { messages: readonly RunMessage[]; mode?: InputMode },
    options?: KeyedOptions,
  ): Promise<{ run_id: string; accepted_run_id: string; dispatch_id: string }>;
  /** Returns the durable events, oldest first. */
  events(
    runId: string,
    from?: { cursor?: string; limit?: number },
    options?: Options,
  ): Paged<EventPage, CanonicalEvent>;
};

export const createRuns = (connection: Connection): Runs => ({
  stream: (request, options) => streamRun(connection, request, options),
  get: (runId, options) => call(connection, 'GET', path`/v1/runs/${runId}`, options),
  list({ threadId, cursor, ...filter } = {}, options) {
    const target = threadId === undefined ? '/v1/runs' : path`/v1/threads/${threadId}/runs`;
    const { status, outcome, agentId, createdAfter, createdBefore, text, sort, preview, limit } = filter;
    const query = {
      status,
      outcome: outcome?.join(','),
      agent_id: agentId,
      created_after: createdAfter,
      created_before: createdBefore,
      q: text,
      sort,
      preview,
      limit,
    };
    return paged(
      (from) =>
        call<z.infer<typeof RunList>>(connection, 'GET', target, {
          signal: options?.signal,
          query: { ...query, cursor: from },
        }),
      ({ items }) => items,
      cursor,
    );
  },
  async cancel(runId, options) {
    await call(connection, 'POST', path`/v1/runs/${runId}/cancel`, options);
  },
  input: (runId, input, options) =>
    call(connection, 'POST', path`/v1/runs/${runId}/inputs`, { ...options, body: input }),
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
