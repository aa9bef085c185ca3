import type { Message } from './message.ts';

/** Accepted messages that are pending for the history (runtime.md 2.10, 9). Times are in seconds. */

/** When a message joins: at a step of the running run, at its end, when a waiting run resumes, or at a new run. */
export type Boundary = 'interrupt' | 'next_step' | 'on_natural_end' | 'resume_input' | 'new_run';

export type DeliveryMode = {
  boundary: Boundary;
  /** `one` is delivered alone, `batch` together with its neighbors. */
  granularity: 'one' | 'batch';
  /** No later message is delivered before it. */
  barrier?: true;
  /** Only this run consumes it. */
  target_run_id?: string;
  /** Whether a new run may consume it when its target no longer can. */
  fallback_to_new_run?: false;
};

/**
 * An accepted message that waits to join the history of its thread (runtime.md 2.10). Times are in seconds since the
 * epoch.
 *
 * @example
 * ```ts
 * const describe = ({ position, delivery_mode, message }: PendingMessage): string =>
 *   `${position} (${delivery_mode.boundary}): ${textOf(message.content)}`;
 * for (const message of await troupe.pending.list('default', 'first')) console.log(describe(message));
 * ```
 */
export type PendingMessage = {
  /** Id of the message. */
  pending_id: string;
  thread_id: string;
  /** Position in the order of the thread, starting at 1. */
  position: number;
  message: Message;
  /** Incremented with every edit. */
  revision: number;
  delivery_mode: DeliveryMode;
  created_at: number;
  updated_at: number;
};
