import type { ResolvedAgent } from '../../loop/agent.ts';
import type { Leg, Resume, RunAdapter, RunOrigin } from '../../schema/activation.ts';
import type { Actor } from '../../schema/actor.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { ContentBlock, Message, MessageMetadata, Role } from '../../schema/message.ts';
import type { Principal } from '../../schema/principal.ts';
import type { InferenceOverrides } from '../../schema/run-overrides.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import type { Batch, TimedRun } from '../../store/index.ts';
import type { DecisionRequest } from '../../tools/verdict.ts';
import type { Rewind } from '../ledger/rewind.ts';
import type { Attach } from '../run/live-channel.ts';

/** Requests of clients to a thread, as the protocols pass them to the runtime. */

export type UserMessage = {
  role: Exclude<Role, 'tool'>;
  content: ContentBlock[];
  sender_agent_id?: string;
  /** Id chosen by the client, unique within the thread; without it, the message gets a new one. */
  id?: string;
  /** The client's name for it, which need not be unique; shown to clients of its protocol instead of the id. */
  external_id?: string;
  /** Fields that an A2A client sent with it. */
  a2a?: MessageMetadata['a2a'];
  /** The message that this one is an edit of. */
  replaces?: string;
  /** Visible to the model only. */
  visibility?: 'internal';
};

/** The modes of runtime.md 8, the foreground run of 5.1, and a run that a tool call drives (5.4). */
export type SubmitMode =
  | 'foreground'
  | 'queue'
  | 'live_then_queue'
  | 'interrupt_then_queue'
  | 'resume_open_run'
  | 'sub_agent';

export type DecisionInput = DecisionRequest & {
  /** Id of a ticket, or of a call that has one. */
  tool_call_id: string;
  /** Digest of the arguments that the client has shown. */
  digest?: string;
  /** Decisions accepted on the ticket of the call that drives this run, for this ticket or those below it. */
  accepted?: NonNullable<Resume['below']>;
  /** The author of a decision on the ticket of the call that drives this run. */
  passed?: Pick<Resume, 'decided_as' | 'principal' | 'digest'>;
  /** The reason and its author; stored with the decision and in its event. */
  reason?: string;
  decided_by?: string;
  /** The principal that decides; absent for decisions of the service itself. */
  principal?: Principal | undefined;
  /** Whether that principal may write the thread, so that it may refuse a question. */
  mayWrite?: boolean;
  /** The origin of its request, for the access log. */
  from?: { ip?: string; route: string };
};

/** Options of the run that the request starts or continues. A continued run keeps the options that are left out. */
export type RunOptions = {
  /** Tools that the client executes. */
  frontend_tools?: readonly ToolDescriptor[] | undefined;
  /** Settings of the model calls. */
  overrides?: InferenceOverrides | undefined;
  /** Schema of the structured result, in place of the agent's; null for none. */
  output_schema?: JsonObject | null | undefined;
  /** System text of the client, after the system prompt of the agent; never part of the history. */
  instructions?: string | undefined;
  /** A completion that was cut off is the answer of the run. */
  continue_truncated?: false | undefined;
  /** Calls of tools of the agent, those before this request included; null for no limit. */
  max_tool_calls?: number | null | undefined;
  leg?: Leg | undefined;
  /** Parameters of the request that are kept for its client. */
  request_echo?: JsonObject | undefined;
};

/** A message of another conversation, which the thread imports before the input; it belongs to no run. */
export type ImportedMessage = Pick<Message, 'role' | 'content' | 'tool_calls' | 'tool_call_id'>;

/** Fields of the thread that the submission writes; absent fields stay as they are. */
export type ThreadFields = {
  /** Only for a thread that the submission creates. */
  resource_id?: string | undefined;
  /** Milliseconds; null: the thread no longer expires. */
  expires_at?: number | null | undefined;
};

export type Submission = RunOptions & {
  mode: SubmitMode;
  agent: ResolvedAgent;
  /** Whether the client named the agent: if so, the input does not continue a waiting run of another agent. */
  named: boolean;
  messages: readonly UserMessage[];
  /** Imported before the messages, in the same commit; only for a new run. */
  history?: readonly ImportedMessage[] | undefined;
  thread?: ThreadFields | undefined;
  origin: RunOrigin;
  adapter: RunAdapter;
  /** Attaches readers before the first event of a run that starts or continues with this input. */
  attach?: Attach;
  /** Decisions on calls of the waiting run, applied before the messages. */
  decisions?: readonly DecisionInput[];
  /** The target run of the input: the one that it continues, or the only one that it may be steered into. */
  into?: string;
  /** Rewinds the history to this point first; the run is a new one. */
  rewind?: Rewind | undefined;
  /** Id of a new run; nothing happens when a run with this id exists. */
  run_id?: string;
  /** Dispatch id of a new run; generated if absent. */
  dispatch_id?: string;
  /** 0 to 255; lower values come first. */
  priority?: number;
  dedupe_key?: string;
  /** Earliest start, in milliseconds. */
  available_at?: number;
  /** Adds writes to the commit that accepts the input; receives the run that it starts or continues. */
  extraWrites?: ((batch: Batch, found: TimedRun) => void) | undefined;
  /** The key of the request; it is stored with the commit that accepts the input. */
  keyed?: Accept<Accepted> | undefined;
  /** For a sub-agent: the call that drives the run. */
  parent?: ParentCall;
  /** The trace of a new run. */
  context?: TraceContext | undefined;
  /** The user who gives the input, for whom a new run acts; absent without a user. */
  by?: Actor | undefined;
};

/** `root_run_id`: the run at the top of the tree, which counts all runs below it. */
export type ParentCall = { run_id: string; thread_id: string; call_id: string; root_run_id: string };

export type Accepted = {
  run_id: string;
  thread_id: string;
  dispatch_id: string;
  /** `running`: executing, or consumed by an executing run; `queued`: waiting. */
  status: 'running' | 'queued';
};

/** A decision of a request that may be repeated. */
export type KeyedDecision = DecisionInput & {
  /** The key of the request; it is stored with the commit that accepts the decision. */
  keyed?: Accept<void> | undefined;
};

export type DecisionTarget = KeyedDecision & {
  /** Without it: the newest waiting run of the thread that has the ticket. */
  run_id?: string;
  /**
   * A change of this child run, which a delegating call waits for, in place of a decision: the call checks it again.
   */
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

/** Whether the submission consists only of decisions for this run. */
export const isAnswerTo = (
  run_id: string | undefined,
  { mode, into, messages, decisions = [] }: Submission,
): boolean =>
  run_id !== undefined &&
  mode === 'foreground' &&
  into === run_id &&
  messages.length === 0 &&
  decisions.length > 0;
