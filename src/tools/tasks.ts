import type { z } from 'zod';

/** Background tasks and messages that outlive the call of a tool (agent-loop.md 16). */

type Json = z.infer<ReturnType<typeof z.json>>;

export type TaskInput = {
  /** Name by which the model can refer to the task, in addition to its id. */
  name?: string;
  /** Parent task; cancelling it cancels this task. */
  parent?: string;
  /** `signal` fires when the task is cancelled or its run ends; `emit` sends the run an event before the task ends. */
  run(signal: AbortSignal, emit: (event: Json) => void): Promise<Json>;
};

/** `self`: a task that the run started; `child`: a part of such a task. */
export type TaskTarget = { relation: 'self' | 'child'; name: string };

export type TaskCancel = { root_task_id: string; cancelled_count: number } | { error: string };

export type Tasks = {
  /** The task ends with its run, but a run with running tasks waits for them instead of ending with a completion. */
  start(task: TaskInput): { task_id: string };
  cancel(target: TaskTarget): TaskCancel;
};

/** `parent`: the thread of the run that this one works for; `child`: a thread below this one, by its agent. */
export type Recipient =
  | { relation: 'parent' }
  | { relation: 'child'; name: string }
  | { relation: 'agent'; thread_id: string; agent_id?: string | undefined };

export type Address = { message_id: string; thread_id: string; agent_id: string };

export type Mail = {
  /** Resolves the recipient of a message, and assigns the message an id. */
  address(to: Recipient): Address | { error: 'recipient_not_found' | 'recipient_unavailable' };
};
