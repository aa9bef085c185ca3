import type { AnswerPart } from '../schema/answer-part.ts';
import type { Json } from '../schema/endpoint.ts';
import type { ContentBlock } from '../schema/message.ts';
import type { TaskState } from '../schema/task-state.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/**
 * Agents of other services (a2a.md 12), as runs and tools use them. A task is followed until it is terminal or requires
 * input.
 */

/** Identifies the task, also for another process. */
export type RemoteTask = { task_id: string; context_id?: string };

export type RemoteSnapshot = RemoteTask & {
  state: TaskState;
  text?: string;
  artifacts: readonly RemoteArtifact[];
  failure_message?: string;
};

export type RemoteArtifact = { id?: string; name?: string; media_type?: string; content: Json };

/** `raw` is the last task or message of the remote agent. */
export type RemoteOutput = {
  text?: string;
  artifacts?: readonly RemoteArtifact[];
  raw?: Json;
  /** Structured result of a delegate in this service. */
  structured?: Json;
};

/** Outcome of a turn. The task is absent if the remote agent replied with a message at once. */
export type RemoteOutcome = {
  task?: RemoteTask;
  /** Id of the conversation, also if the remote agent replied with a message. */
  context_id?: string;
  /** Empty if the remote agent returned no text. */
  text: string;
  /** With parts: the text without data. */
  plainText?: string;
  /** Parts other than text, in the order of the remote agent. */
  parts?: readonly AnswerPart[];
  output: RemoteOutput;
} & (
  | { status: 'completed' | 'cancelled' | 'timeout' }
  /** `reason` is the message of the remote agent, or a default sentence. */
  | { status: 'input_required' | 'auth_required' | 'rejected' | 'failed'; reason: string }
);

/** The message for the agent; without `say`, a task that was submitted earlier is followed. */
export type RemoteTurn = {
  /** The run that the agent works for. */
  run?: { scope: string; id: string };
  /** Trace context of the requests. */
  trace?: TraceContext | undefined;
  /** Follows this task without submitting a message. */
  follow?: RemoteTask;
  say?: {
    message_id: string;
    content: readonly ContentBlock[];
    /** Continues this task, which required input. */
    task_id?: string;
    context_id?: string;
  };
  /** Called when a task was accepted; its progress is processed after this resolves. */
  onSubmitted(task: RemoteTask): Promise<void>;
  /** Called after each change; must not throw. */
  onSnapshot(snapshot: RemoteSnapshot): void;
  /** Receives the response text incrementally; the deltas concatenate to the final text. Must not throw. */
  onText(delta: string): void;
  /** Cancels the turn: the task is cancelled at the remote agent, and the outcome is `cancelled`. */
  signal: AbortSignal;
  /** Fired when the service stops: the turn ends, but the task keeps running for the next process to follow. */
  leave?: AbortSignal;
};

export type RemoteAgent = {
  /** Identifies the agent in the state of runs: `a2a:<interface base>`. */
  key: string;
  /**
   * Executes one turn of the conversation, until the task is terminal or requires input, for at most `timeout_ms`.
   * @throws Error if the message was not accepted, if the response cannot be parsed, if `onSubmitted` throws, or if
   *   `leave` has fired
   */
  converse(turn: RemoteTurn): Promise<RemoteOutcome>;
  /** Never throws; errors of the remote agent are logged. */
  cancel(task_id: string): Promise<void>;
};
