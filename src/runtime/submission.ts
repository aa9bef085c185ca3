import type { ResolvedAgent } from '../loop/agent.ts';
import type { JsonObject } from '../schema/json.ts';
import type { ContentBlock, Message, MessageMetadata, Role } from '../schema/message.ts';
import type { InferenceOverrides, Resume, RunAdapter, RunOrigin } from '../schema/run.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { Batch, TimedRun } from '../store/index.ts';
import type { Said } from '../tools/verdict.ts';
import type { Attach } from './channel.ts';
import type { Rewind } from './rewind.ts';

/** What clients ask of a thread, as the protocols hand it to the runtime. */

export type UserMessage = {
  role: Exclude<Role, 'tool'>;
  content: ContentBlock[];
  sender_agent_id?: string;
  /** Of the client, which must not be that of another message of the thread; without, the message gets a new one. */
  id?: string;
  /** What the client calls it, which need not be unique; shown to clients of its protocol instead of the id. */
  external_id?: string;
  /** What an A2A client sent with it. */
  a2a?: MessageMetadata['a2a'];
  /** The message that a user has edited to this one. */
  replaces?: string;
  /** For the model, and for nobody else. */
  visibility?: 'internal';
};

/** runtime.md 8, the foreground run of 5.1, and a run that a tool call drives (5.4). */
export type SubmitMode =
  | 'foreground'
  | 'queue'
  | 'live_then_queue'
  | 'interrupt_then_queue'
  | 'resume_open_run'
  | 'sub_agent';

export type DecisionInput = Said & {
  /** Of a ticket, or of a call that has one. */
  tool_call_id: string;
  /** Of what the client has shown. */
  digest?: string;
  /** It was accepted on the ticket of the call that drives this run: what it does to this ticket, or those below it. */
  accepted?: NonNullable<Resume['below']>;
  /** Why, and who says so; kept with the decision and in its event. */
  reason?: string;
  decided_by?: string;
};

export type Submission = {
  mode: SubmitMode;
  agent: ResolvedAgent;
  /** The client named the agent: it does not continue a waiting run of another one. */
  named: boolean;
  messages: readonly UserMessage[];
  origin: RunOrigin;
  adapter: RunAdapter;
  /** Readers join here, before the first event of a run that starts or goes on with this input. */
  attach?: Attach;
  /** Decisions on calls of the waiting run, applied before the messages. */
  decisions?: readonly DecisionInput[];
  /** Tools that the client executes, for the run that starts or goes on with this; without, those that it has. */
  frontend_tools?: readonly ToolDescriptor[];
  /** Settings of the model calls of that run; without, those that it has. */
  overrides?: InferenceOverrides | undefined;
  /**
   * Schema of the structured result of the run that starts or continues with this, in place of that of its agent; null
   * turns it off. Without, the one that it has.
   */
  output_schema?: JsonObject | null | undefined;
  /** The run that the input is meant for: the one that it continues, or the only one that it is steered into. */
  into?: string;
  /** What comes behind this place goes out of the history first; the run is a new one. */
  rewind?: Rewind | undefined;
  /** Of the run that it makes, always a new one; nothing happens when there is a run of this id. */
  run_id?: string;
  /** Of the dispatch of a new run; without, it gets a new one. */
  dispatch_id?: string;
  /** 0 to 255, smaller first. */
  priority?: number;
  dedupe_key?: string;
  /** milliseconds; not before */
  available_at?: number;
  /** Puts more into the commit that accepts it: with the run that it makes or goes on with. */
  alongside?: ((batch: Batch, found: TimedRun) => void) | undefined;
  /** Of a sub-agent: the call that drives the run. */
  parent?: ParentCall;
  /** Whose trace a run belongs to that it makes. */
  context?: TraceContext | undefined;
};

/** `root_run_id`: the run at the top of the tree, which counts all that are below it. */
export type ParentCall = { run_id: string; thread_id: string; call_id: string; root_run_id: string };

export type Accepted = {
  run_id: string;
  thread_id: string;
  dispatch_id: string;
  /** Executing, or taken by a run that executes; or waiting for its turn. */
  status: 'running' | 'queued';
};

export type DecisionTarget = DecisionInput & {
  /** Without, the newest waiting run of the thread that has the ticket. */
  run_id?: string;
  /** News of this run, which a delegating call waits for, instead of a decision: the call looks at it again. */
  about_child?: string;
  attach?: Attach;
};

export const userMessage = (newId: string, message: UserMessage): Message => {
  const { id = newId, role, content, visibility, sender_agent_id, external_id, a2a, replaces } = message;
  return {
    id,
    role,
    content,
    ...(visibility && { visibility }),
    ...((sender_agent_id ?? external_id ?? a2a ?? replaces) !== undefined && {
      metadata: {
        ...(sender_agent_id !== undefined && { sender_agent_id }),
        ...(external_id !== undefined && { external_id }),
        ...(a2a !== undefined && { a2a }),
        ...(replaces !== undefined && { replaces }),
      },
    }),
  };
};

/** Answers for the run, and nothing else. */
export const isAnswerTo = (
  run_id: string | undefined,
  { mode, into, messages, decisions = [] }: Submission,
): boolean =>
  run_id !== undefined &&
  mode === 'foreground' &&
  into === run_id &&
  messages.length === 0 &&
  decisions.length > 0;
