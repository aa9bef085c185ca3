import type { AnswerPart } from '../schema/answer-part.ts';
import type { Json } from '../schema/endpoint.ts';
import type { ContentBlock } from '../schema/message.ts';
import type { TaskState } from '../schema/task-state.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/**
 * Agents that other services run (a2a.md 12), as runs and tools talk to them. A task of theirs is followed from
 * here until it is terminal or asks for something.
 */

/** By which the task is found again, also by another process. */
export type RemoteTask = { task_id: string; context_id?: string };

/** What is known of the task now. */
export type RemoteSnapshot = RemoteTask & {
  state: TaskState;
  text?: string;
  artifacts: readonly RemoteArtifact[];
  failure_message?: string;
};

export type RemoteArtifact = { id?: string; name?: string; media_type?: string; content: Json };

/** The last task or message of the other side is `raw`. */
export type RemoteOutput = {
  text?: string;
  artifacts?: readonly RemoteArtifact[];
  raw?: Json;
  /** The structured result of a delegate of this service. */
  structured?: Json;
};

/** What a task came to. The task is absent when a message answered at once, without one. */
export type RemoteOutcome = {
  task?: RemoteTask;
  /** Of the conversation, also where a message answered. */
  context_id?: string;
  /** Empty when it said nothing. */
  text: string;
  /** With parts: the text without data. */
  words?: string;
  /** What it holds besides words, in the order in which the other side has it. */
  parts?: readonly AnswerPart[];
  output: RemoteOutput;
} & (
  | { status: 'completed' | 'cancelled' | 'timeout' }
  /** With what the other side said of it, or a sentence that says as much. */
  | { status: 'input_required' | 'auth_required' | 'rejected' | 'failed'; reason: string }
);

/** What is said to the agent; or nothing, when a task that was submitted before is followed on. */
export type RemoteTurn = {
  /** The run that it works for. */
  run?: { scope: string; id: string };
  /** Whose trace its requests belong to. */
  trace?: TraceContext | undefined;
  /** Follows this task on, and submits nothing. */
  follow?: RemoteTask;
  say?: {
    message_id: string;
    content: readonly ContentBlock[];
    /** Continues this task, which had asked for something. */
    task_id?: string;
    context_id?: string;
  };
  /** A task was accepted; what it does is not looked at before this resolves. */
  onSubmitted(task: RemoteTask): Promise<void>;
  /** Whenever it has changed; must not throw. */
  onSnapshot(snapshot: RemoteSnapshot): void;
  /** Words of the answer as they come; together, what they will be. Must not throw. */
  onText(delta: string): void;
  /** Whoever fires it has lost interest: the task is told to stop, and the outcome is `cancelled`. */
  signal: AbortSignal;
  /** Fired by a service that stops: the task is left alone for whoever follows it on, and the turn is given up. */
  leave?: AbortSignal;
};

export type RemoteAgent = {
  /** Names it in the state of runs: `a2a:<interface base>`. */
  key: string;
  /**
   * One turn of the conversation, until the task is terminal or asks for something, at most `timeout_ms`.
   * @throws Error when the message was not accepted, when nothing of what came can be understood, what
   * `onSubmitted` throws, or that the turn was left
   */
  converse(turn: RemoteTurn): Promise<RemoteOutcome>;
  /** Never throws; an error of the other side is logged. */
  cancel(task_id: string): Promise<void>;
};
