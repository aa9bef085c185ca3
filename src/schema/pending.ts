import type { Message } from './message.ts';

/** Messages that are accepted and wait to join the history (runtime.md 2.10, 9). Times are seconds. */

/** When a message joins: at a step of the running run, at its end, when a waiting run goes on, at a new run. */
export type Boundary = 'interrupt' | 'next_step' | 'on_natural_end' | 'resume_input' | 'new_run';

export type DeliveryMode = {
  boundary: Boundary;
  /** `one` is delivered alone, `batch` together with its neighbours. */
  granularity: 'one' | 'batch';
  /** Nothing behind it is delivered before it. */
  barrier?: true;
  /** Only this run takes it. */
  target_run_id?: string;
  /** Whether a new run may take it when its target cannot any more. */
  fallback_to_new_run?: false;
};

export type PendingMessage = {
  /** id of the message */
  pending_id: string;
  thread_id: string;
  /** place in the order of the thread, from 1 */
  position: number;
  message: Message;
  /** goes up with every edit */
  revision: number;
  delivery_mode: DeliveryMode;
  created_at: number;
  updated_at: number;
};
