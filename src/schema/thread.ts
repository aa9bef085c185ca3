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

export const Thread = z
  .object({
    id: z.string(),
    resource_id: z.string().optional(),
    parent_thread_id: z.string().optional(),
    metadata: ThreadMetadata,
    active_run_id: z.string().optional().meta({ description: 'the run that is executing now' }),
    open_run_id: z.string().optional().meta({ description: 'the newest run that is not done' }),
    latest_run_id: z.string().optional(),
    latest_run_updated_at: z.int().optional().meta({ description: 'seconds since the epoch' }),
  })
  .meta({ id: 'Thread', description: 'The thread.' });
export type Thread = z.infer<typeof Thread>;

export const ThreadSummary = z
  .object({
    id: z.string(),
    resource_id: z.string().nullable(),
    parent_thread_id: z.string().nullable(),
    title: z.string().nullable(),
    updated_at: z.int().meta({ description: MS }),
    agent_id: z.string().nullable(),
  })
  .meta({ id: 'ThreadSummary', description: 'A thread in short.' });
export type ThreadSummary = z.infer<typeof ThreadSummary>;

const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    offset: z.int(),
    limit: z.int(),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  });

export const ThreadList = page(z.string()).meta({ id: 'ThreadList', description: 'One page of ids.' });
export const ThreadSummaryList = page(ThreadSummary).meta({
  id: 'ThreadSummaryList',
  description: 'One page of summaries.',
});
