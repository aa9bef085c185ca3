import type { OutboxMessage, TaskState } from '../plugins/background/state.ts';
import type { Mail, TaskCancel, TaskInput, TaskTarget } from '../tools/tasks.ts';

/** What the runtime gives the loop for background tasks and messages (agent-loop.md 16). */

export type TaskRecord = {
  task_id: string;
  name?: string;
  parent?: string;
  /** milliseconds */
  started_at: number;
} & Partial<TaskOrigin> &
  TaskState;

/** The call that started a task, and the step that asked for it. */
export type TaskOrigin = { call_id: string; step_index: number | undefined };

export type RunTasks = {
  /** Numbers go on behind this one. */
  start(task: TaskInput, last: number, origin: TaskOrigin): { task_id: string };
  cancel(target: TaskTarget): TaskCancel;
  /** At work, or with something to tell that the run does not have yet. */
  pending(): boolean;
  /** All tasks of the run, when one of them has changed since this was last asked. */
  changed(): readonly TaskRecord[];
  knows(task_id: string): boolean;
  /** Resolves when a task has told something. */
  told(signal: AbortSignal): Promise<void>;
  /** The run ends: what is at work is cancelled, without a word. */
  end(): void;
  /** A sub-agent waits for its tasks without giving up its execution. */
  readonly inPlace: boolean;
};

export type Mailer = Mail & {
  /** Resolves once it is durable where it goes; a second delivery does nothing. */
  deliver(message: OutboxMessage): Promise<void>;
};
