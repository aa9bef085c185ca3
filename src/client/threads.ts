import type { z } from 'zod';
import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ListedMessage, MessageList } from '../schema/message.ts';
import type { ActiveRun } from '../schema/run.ts';
import type { Thread, ThreadSummary, ThreadSummaryList } from '../schema/thread.ts';
import { type Connection, call, path } from './connection.ts';
import { type Paged, paged } from './pages.ts';
import type { RunMessage } from './run-stream.ts';
import { type EventPage, eventPages, type InputMode } from './runs.ts';

/** Threads: their history, and input that nobody streams. */

export type ThreadLinks = { resource_id?: string | null; parent_thread_id?: string | null };

export type ThreadFilter = {
  resource_id?: string;
  parent_thread_id?: string;
  /** Only threads without a parent. */
  root?: boolean;
  limit?: number;
  cursor?: string;
};

export type MessageFilter = {
  order?: 'asc' | 'desc';
  visibility?: 'external' | 'internal' | 'all';
  runId?: string;
  /** Sequence numbers. */
  after?: number;
  before?: number;
  limit?: number;
  cursor?: string;
};

type Options = { signal?: AbortSignal };

export type Threads = {
  create(thread?: ThreadLinks & { title?: string }, options?: Options): Promise<Thread>;
  /** @throws NotFound */
  get(threadId: string, options?: Options): Promise<Thread>;
  /** The last changed first. */
  list(filter?: ThreadFilter, options?: Options): Paged<z.infer<typeof ThreadSummaryList>, ThreadSummary>;
  /** What is left out stays; null clears a link. @throws NotFound */
  update(
    threadId: string,
    change: ThreadLinks & { title?: string; custom?: JsonObject },
    options?: Options,
  ): Promise<Thread>;
  /** @throws NotFound; InvalidRequest with `reject`, when it has children */
  delete(
    threadId: string,
    how?: { children?: 'detach' | 'reject' | 'cascade' },
    options?: Options,
  ): Promise<void>;
  messages(threadId: string, filter?: MessageFilter, options?: Options): Paged<MessageList, ListedMessage>;
  /** Input that is accepted, and not waited for. @throws NotFound */
  send(
    threadId: string,
    input: { messages: readonly RunMessage[]; agentId?: string; mode?: InputMode },
    options?: Options,
  ): Promise<{ status: 'running' | 'queued'; accepted_run_id: string; dispatch_id: string }>;
  /** Cancels what the thread is busy with. @throws NotFound */
  cancel(threadId: string, options?: Options): Promise<void>;
  /** Stops what the thread is busy with and drops its queue; tells how many dispatches that were. */
  interrupt(threadId: string, options?: Options): Promise<number>;
  /** The run that executes or waits, if any. */
  activeRun(threadId: string, options?: Options): Promise<z.infer<typeof ActiveRun>['active_run']>;
  /** Work that is queued or was, in the order in which it is claimed. */
  mailbox(
    threadId: string,
    page?: { offset?: number; limit?: number },
    options?: Options,
  ): Promise<Dispatch[]>;
  /** The durable events, the oldest first. */
  events(
    threadId: string,
    from?: { cursor?: string; limit?: number },
    options?: Options,
  ): Paged<EventPage, CanonicalEvent>;
};

export const threadsOf = (connection: Connection): Threads => {
  const at = (threadId: string, rest = ''): string => path`/v1/threads/${threadId}` + rest;
  return {
    create: (thread = {}, options) =>
      call(connection, 'POST', '/v1/threads', { signal: options?.signal, body: thread }),
    get: (threadId, options) => call(connection, 'GET', at(threadId), options),
    list: ({ cursor, ...query } = {}, options) =>
      paged(
        (from) =>
          call<z.infer<typeof ThreadSummaryList>>(connection, 'GET', '/v1/threads/summaries', {
            signal: options?.signal,
            query: { ...query, cursor: from },
          }),
        ({ items }) => items,
        cursor,
      ),
    update: (threadId, change, options) =>
      call(connection, 'PATCH', at(threadId), { signal: options?.signal, body: change }),
    delete: (threadId, { children } = {}, options) =>
      call(connection, 'DELETE', at(threadId), {
        signal: options?.signal,
        query: { child_strategy: children },
      }),
    messages: (threadId, { cursor, runId: run_id, ...query } = {}, options) =>
      paged(
        (from) =>
          call<MessageList>(connection, 'GET', at(threadId, '/messages'), {
            signal: options?.signal,
            query: { ...query, run_id, cursor: from },
          }),
        ({ messages }) => messages,
        cursor,
      ),
    send: (threadId, input, options) =>
      call(connection, 'POST', at(threadId, '/messages'), { signal: options?.signal, body: input }),
    async cancel(threadId, options) {
      await call(connection, 'POST', at(threadId, '/cancel'), options);
    },
    async interrupt(threadId, options) {
      const target = at(threadId, '/interrupt');
      const answer = await call<{ superseded_dispatches: number }>(connection, 'POST', target, options);
      return answer.superseded_dispatches;
    },
    async activeRun(threadId, options) {
      const target = at(threadId, '/runs/active');
      return (await call<z.infer<typeof ActiveRun>>(connection, 'GET', target, options)).active_run;
    },
    async mailbox(threadId, page, options) {
      const asked = { signal: options?.signal, ...(page && { query: page }) };
      return (await call<{ items: Dispatch[] }>(connection, 'GET', at(threadId, '/mailbox'), asked)).items;
    },
    events: (threadId, from, options) => eventPages(connection, at(threadId, '/events'), from, options),
  };
};
