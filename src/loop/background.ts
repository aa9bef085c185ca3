import type { OutboxMessage, TaskState } from '../plugins/background/state.ts';
import type { Mail, TaskCancel, TaskInput, TaskTarget } from '../tools/tasks.ts';

/** The interface of the runtime for background tasks and messages (agent-loop.md 16). */

export type TaskRecord = {
  task_id: string;
  name?: string;
  parent?: string;
  /** Milliseconds. */
  started_at: number;
} & Partial<TaskOrigin> &
  TaskState;

/** The call that started a task, and the step that requested it. */
export type TaskOrigin = { call_id: string; step_index: number | undefined };

export type RunTasks = {
  /** Starts a task with the next number after `last`. */
  start(task: TaskInput, last: number, origin: TaskOrigin): { task_id: string };
  cancel(target: TaskTarget): TaskCancel;
  /** Whether tasks are running, or have events that were not delivered to the run yet. */
  pending(): boolean;
  /** Returns all tasks of the run if one of them has changed since the last call. */
  changed(): readonly TaskRecord[];
  knows(task_id: string): boolean;
  /** Resolves when a task has emitted an event. */
  nextEvent(signal: AbortSignal): Promise<void>;
  /** The run ends: running tasks are cancelled without events. */
  end(): void;
  /** Whether the run waits for its tasks while it keeps executing, as sub-agents do. */
  readonly inPlace: boolean;
};

export type Mailer = Mail & {
  /** Resolves once the message is durable at its destination; a second delivery does nothing. */
  deliver(message: OutboxMessage): Promise<void>;
};
