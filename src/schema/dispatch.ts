import { z } from 'zod';
import { RunStatus, Termination } from './run.ts';

/** A durable unit of work on a thread (runtime.md 2.8). Times are in milliseconds. */

export const DispatchStatus = z.enum(['Queued', 'Claimed', 'Acked', 'Cancelled', 'Superseded', 'DeadLetter']);
export type DispatchStatus = z.infer<typeof DispatchStatus>;

export const Dispatch = z
  .object({
    dispatch_id: z.string(),
    thread_id: z.string(),
    run_id: z.string(),
    priority: z.int().min(0).max(255),
    dedupe_key: z.string().nullable(),
    dispatch_epoch: z.int(),
    status: DispatchStatus,
    available_at: z.int(),
    attempt_count: z.int(),
    max_attempts: z.int(),
    last_error: z.string().nullable(),
    claim_token: z.string().nullable(),
    claimed_by: z.string().nullable(),
    lease_until: z.int().nullable(),
    dispatch_instance_id: z.string().optional(),
    run_status: RunStatus.optional(),
    termination: Termination.optional(),
    run_response: z.string().optional(),
    run_error: z.string().optional(),
    completed_at: z.int().optional(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({
    id: 'Dispatch',
    description: 'A queued unit of work on a thread. Times are milliseconds since the epoch.',
  });
export type Dispatch = z.infer<typeof Dispatch>;

/** The outcome of a finished dispatch in metrics. */
export type RunOutcome =
  | 'completed'
  | 'transient_error'
  | 'permanent_error'
  | 'cancelled'
  | 'superseded'
  | 'dead_letter';
