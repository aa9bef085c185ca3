import type { z } from 'zod';

/** What a tool may leave behind when its call is over: tasks that go on, and messages (agent-loop.md 16). */

type Json = z.infer<ReturnType<typeof z.json>>;

export type TaskInput = {
  /** What the model calls it by, beside its id. */
  name?: string;
  /** The task that it is a part of; it is cancelled with it. */
  parent?: string;
  /** `signal` fires when the task is cancelled or its run ends; `emit` tells the run something before that. */
  run(signal: AbortSignal, emit: (event: Json) => void): Promise<Json>;
};

/** `self`: a task that the run started; `child`: one that is a part of such a task. */
export type TaskTarget = { relation: 'self' | 'child'; name: string };

export type TaskCancel = { root_task_id: string; cancelled_count: number } | { error: string };

export type Tasks = {
  /** The task ends with its run, but an answer does not end the run: it waits for its tasks. */
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
  /** Where a message would go, with an id for it. */
  address(to: Recipient): Address | { error: 'recipient_not_found' | 'recipient_unavailable' };
};
