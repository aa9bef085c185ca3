import type { z } from 'zod';
import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ListedMessage, MessageList } from '../schema/message.ts';
import type { ActiveRun } from '../schema/run.ts';
import type { Thread, ThreadSummary, ThreadSummaryList, Visibility } from '../schema/thread.ts';
import { type Connection, call, path } from './connection.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';
import type { RunMessage } from './run-request.ts';
import { type EventPage, eventPages, type InputMode } from './runs.ts';

/**
 * Links of a thread: the object of the caller that it belongs to, and its parent thread. Null clears a link.
 *
 * @example
 * ```ts
 * const links: ThreadLinks = { resource_id: 'ticket-42' };
 * const { id } = await client.threads.create({ ...links, title: 'Invoice' });
 * ```
 */
export type ThreadLinks = { resource_id?: string | null; parent_thread_id?: string | null };

/**
 * The threads to list, and the size and start of the page (runtime.md 0.6).
 *
 * @example
 * ```ts
 * const filter: ThreadFilter = { resource_id: 'ticket-42', root: true };
 * for await (const { id, title } of client.threads.list(filter)) console.log(id, title);
 * ```
 */
export type ThreadFilter = {
  resource_id?: string;
  parent_thread_id?: string;
  /** Only threads without a parent. */
  root?: boolean;
  /** Only threads whose latest run is of this agent. */
  agent_id?: string;
  /** True: only threads whose latest run was started by a run of another thread. False: only other threads. */
  delegated?: boolean;
  /** Words that the title, the first user message or an id contains. */
  q?: string;
  /** Adds the first words of the first user message to each thread. */
  preview?: boolean;
  limit?: number;
  cursor?: string;
};

/**
 * The messages to list (runtime.md 4.1). Default: messages for clients (`external`), oldest first. `after` and
 * `before` are exclusive.
 *
 * @example
 * ```ts
 * const filter: MessageFilter = { order: 'desc', limit: 20 };
 * const { messages } = await client.threads.messages('first', filter);
 * ```
 */
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

/**
 * The end of the copied history, and the record of the new thread (runtime.md 3.5). Without `at`, the whole history is
 * copied, up to its last complete step.
 *
 * @example
 * ```ts
 * const fork: Fork = { at: { seq: 4 }, title: 'Rome in June' };
 * const { id } = await client.threads.fork('first', fork);
 * ```
 */
export type Fork = {
  at?: { seq: number } | { message_id: string } | { run_id: string };
  id?: string;
  title?: string;
  resource_id?: string;
};

type Options = { signal?: AbortSignal };

/**
 * Threads, their history, and input without a stream: `client.threads`.
 *
 * @example
 * ```ts
 * const { id } = await client.threads.create({ title: 'Weather' });
 * await client.threads.send(id, { agentId: 'default', messages: [{ role: 'user', content: 'Rain in Rome?' }] });
 * for await (const { role, content } of client.threads.messages(id)) console.log(role, content);
 * ```
 */
export type Threads = {
  /** Creates an empty thread. @throws InvalidRequest */
  create(thread?: ThreadLinks & { title?: string }, options?: KeyedOptions): Promise<Thread>;
  /** Returns the record of a thread. @throws NotFound */
  get(threadId: string, options?: Options): Promise<Thread>;
  /** Lists threads, last changed first. */
  list(filter?: ThreadFilter, options?: Options): Paged<z.infer<typeof ThreadSummaryList>, ThreadSummary>;
  /**
   * Creates a thread with the history of another one up to a message, a run or the end (runtime.md 3.5); it starts no run.
   *
   * @throws NotFound; InvalidRequest for a point inside a step; Conflict if the id is taken; TroupeError with
   *   status 413 above 10,000 messages
   */
  fork(threadId: string, fork?: Fork, options?: KeyedOptions): Promise<Thread>;
  /**
   * Changes a thread. Omitted fields stay unchanged; null clears a link. `visibility` is what other users may do; `owner`
   * gives the thread to another user, with all threads below it, and its `uid` becomes its `id` (identity.md 1.3).
   *
   * @throws NotFound; Forbidden for `visibility` and `owner` without the right to change them; InvalidRequest for an
   *   unknown user; Conflict for `owner` while a run of a sub-agent or a background task executes
   */
  update(
    threadId: string,
    change: ThreadLinks & {
      title?: string;
      custom?: JsonObject;
      visibility?: Visibility;
      owner?: string;
    },
    options?: Options,
  ): Promise<Thread>;
  /**
   * Interrupts and deletes a thread with its messages (runtime.md 3.4); records of its runs and its events stay readable.
   * Child threads are detached (default), deleted too (`cascade`), or a reason to refuse (`reject`).
   *
   * @throws NotFound; InvalidRequest with `reject` if the thread has children
   */
  delete(
    threadId: string,
    how?: { children?: 'detach' | 'reject' | 'cascade' },
    options?: Options,
  ): Promise<void>;
  /** Lists messages of the history. @throws NotFound */
  messages(threadId: string, filter?: MessageFilter, options?: Options): Paged<MessageList, ListedMessage>;
  /** Removes a message from the history. @throws NotFound; Conflict if a run of the thread is open */
  deleteMessage(threadId: string, messageId: string, options?: Options): Promise<void>;
  /** Submits input without waiting for its run. @throws NotFound */
  send(
    threadId: string,
    input: { messages: readonly RunMessage[]; agentId?: string; mode?: InputMode },
    options?: KeyedOptions,
  ): Promise<{ status: 'running' | 'queued'; accepted_run_id: string; dispatch_id: string }>;
  /** Cancels the current run of the thread. @throws NotFound */
  cancel(threadId: string, options?: Options): Promise<void>;
  /** Stops the current run and drops the queue; returns the number of dropped dispatches. */
  interrupt(threadId: string, options?: Options): Promise<number>;
  /** Returns the executing or waiting run, if any. */
  activeRun(threadId: string, options?: Options): Promise<z.infer<typeof ActiveRun>['active_run']>;
  /** Returns past and queued dispatches in the order of their claims. */
  mailbox(
    threadId: string,
    page?: { offset?: number; limit?: number },
    options?: Options,
  ): Promise<Dispatch[]>;
  /** Returns the durable events, oldest first. */
  events(
    threadId: string,
    from?: { cursor?: string; limit?: number },
    options?: Options,
  ): Paged<EventPage, CanonicalEvent>;
};

export const createThreads = (connection: Connection): Threads => {
  const at = (threadId: string, rest = ''): string => path`/v1/threads/${threadId}` + rest;
  return {
    create: (thread = {}, options) => call(connection, 'POST', '/v1/threads', { ...options, body: thread }),
    get: (threadId, options) => call(connection, 'GET', at(threadId), options),
    fork: (threadId, fork = {}, options) =>
      call(connection, 'POST', at(threadId, '/fork'), { ...options, body: fork }),
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
    async deleteMessage(threadId, messageId, options) {
      await call(connection, 'DELETE', at(threadId) + path`/messages/${messageId}`, options);
    },
    send: (threadId, input, options) =>
      call(connection, 'POST', at(threadId, '/messages'), { ...options, body: input }),
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
      const request = { signal: options?.signal, ...(page && { query: page }) };
      return (await call<{ items: Dispatch[] }>(connection, 'GET', at(threadId, '/mailbox'), request)).items;
    },
    events: (threadId, from, options) => eventPages(connection, at(threadId, '/events'), from, options),
  };
};
