import { z } from 'zod';
import { JsonObject } from './json.ts';

/** Threads (runtime.md 2.1, 2.2). Times in `metadata` are milliseconds, `latest_run_updated_at` is seconds. */

const MS = 'milliseconds since the epoch';

export const ThreadMetadata = z.object({
  created_at: z.int().optional().meta({ description: MS }),
  updated_at: z.int().optional().meta({ description: MS }),
  title: z.string().optional(),
  custom: JsonObject.optional(),
});

/** What other users of the scope may do with a thread and all that belongs to it (identity.md 1.3). */
export const Visibility = z.enum(['private', 'read', 'write']);
export type Visibility = z.infer<typeof Visibility>;

export const ForkedFrom = z
  .object({
    thread_id: z.string().meta({ description: 'the id, or for a thread of another owner the uid' }),
    seq: z.int().meta({ description: 'number of the last message that was copied' }),
  })
  .meta({ id: 'ForkedFrom', description: 'The thread that a fork was made from, which may be deleted.' });
export type ForkedFrom = z.infer<typeof ForkedFrom>;

export const Thread = z
  .object({
    id: z.string(),
    uid: z.string().optional().meta({
      description:
        'names the thread among those of all owners, wherever an id is accepted; absent without an owner',
    }),
    owner: z.string().optional().meta({ description: 'id of the user who owns the thread' }),
    visibility: Visibility.optional().meta({
      description: 'what other users of the scope may do; absent means `private`',
    }),
    resource_id: z.string().optional(),
    parent_thread_id: z.string().optional(),
    forked_from: ForkedFrom.optional(),
    expires_at: z
      .int()
      .optional()
      .meta({
        description: `time at which the thread is deleted with its runs and events, in ${MS}; absent: it is kept`,
      }),
    metadata: ThreadMetadata,
    active_run_id: z.string().optional().meta({ description: 'the run that is executing now' }),
    open_run_id: z.string().optional().meta({ description: 'the newest run that is not done' }),
    latest_run_id: z.string().optional(),
    latest_run_updated_at: z.int().optional().meta({ description: 'seconds since the epoch' }),
  })
  .meta({ id: 'Thread', description: 'The thread.' });
/**
 * The record of a thread (runtime.md 2.1). Times in `metadata` are in milliseconds since the epoch,
 * `latest_run_updated_at` is in seconds.
 *
 * @example
 * ```ts
 * const thread: Thread = await client.threads.get('first');
 * if (thread.active_run_id !== undefined) await client.threads.cancel(thread.id);
 * ```
 */
export type Thread = z.infer<typeof Thread>;

export const isShared = ({ visibility = 'private' }: Pick<Thread, 'visibility'>): boolean =>
  visibility !== 'private';

export const ThreadSummary = z
  .object({
    id: z.string(),
    resource_id: z.string().nullable(),
    parent_thread_id: z.string().nullable(),
    forked_from: ForkedFrom.optional(),
    title: z.string().nullable(),
    updated_at: z.int().meta({ description: MS }),
    agent_id: z.string().nullable(),
    preview: z.string().nullable().optional().meta({
      description:
        'with `preview=true`: the first 60 characters of the first user message, or null if it has no text',
    }),
  })
  .meta({ id: 'ThreadSummary', description: 'Summary of a thread.' });
/**
 * A thread in a list (runtime.md 2.2). `updated_at` is in milliseconds since the epoch. `preview` is only present if the
 * list was requested with it.
 *
 * @example
 * ```ts
 * const label = ({ id, title, preview }: ThreadSummary): string => title ?? preview ?? id;
 * for await (const thread of client.threads.list({ root: true, preview: true })) console.log(label(thread));
 * ```
 */
export type ThreadSummary = z.infer<typeof ThreadSummary>;

const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    offset: z.int(),
    limit: z.int(),
    total: z.int().meta({ description: 'number of threads that match, or that a search examines' }),
    searched: z.int().optional().meta({
      description:
        'for a search: how many of `total` threads were examined up to the end of this page; a page may be short, or empty, although `has_more` is true',
    }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  });

export const ThreadList = page(z.string()).meta({ id: 'ThreadList', description: 'One page of ids.' });
export const ThreadSummaryList = page(ThreadSummary).meta({
  id: 'ThreadSummaryList',
  description: 'One page of summaries.',
});
