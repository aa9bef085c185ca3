import type { TaskState } from './a2a-task.ts';

/** The input, context and events of a remote task, and the results of its services. */

/** A reported state of the task. */
export type TaskSeen = { kind: 'task'; state: TaskState };

/** `message`: the remote service answered directly, without a task. */
export type Submitted = TaskSeen | { kind: 'message' };

/**
 * A stream ends when the task settles, or breaks before that. `unsupported`: the remote service rejects this method.
 */
export type Streamed = TaskSeen | { kind: 'broken' } | { kind: 'unsupported' };

/** `unreachable`: this poll received no response. */
export type Polled = TaskSeen | { kind: 'unreachable' };

export type StreamMethod = 'POST' | 'GET';

export type RemoteTaskInput = {
  host: object;
  /** Whether the message continues a task that had asked for input or a login. */
  continues: boolean;
  /** Initial and maximum delay between two polls. */
  firstPauseMs: number;
  longestPauseMs: number;
};

export type RemoteTaskContext = Omit<RemoteTaskInput, 'firstPauseMs'> & {
  /** The last reported state. */
  state: TaskState | undefined;
  method: StreamMethod;
  resubscribed: boolean;
  pauseMs: number;
  /** Why the task is no longer wanted. */
  givenUp: 'cancelled' | 'timed_out' | 'failed' | undefined;
  /** The error that ended the task without an outcome. */
  error: unknown;
};

export type RemoteTaskEvent =
  | { type: 'SUBMIT' }
  | { type: 'FOLLOW' }
  | { type: 'ABANDON' }
  | { type: 'LEAVE' }
  | { type: 'EXPIRE' };
