import type { StateValueFrom } from 'xstate';
import type { toolCallMachine } from '../../machines/tool-call.ts';
import type {
  AnsweredBy,
  InferenceEnd,
  InferenceRequest,
  InferenceUsage,
  SentSettings,
} from '../models/model.ts';
import type { CompactionEvent } from '../plugins/context/compaction-marks.ts';
import type { Compactor } from '../plugins/context/compactor.ts';
import type { Resume } from '../schema/activation.ts';
import type { Actor } from '../schema/actor.ts';
import type { PartBlock } from '../schema/answer-part.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { Spent, Tokens } from '../schema/cut-off.ts';
import type { JsonObject } from '../schema/json.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { InputBlock, Message, MessageMetadata, ReasoningItem, ToolCall } from '../schema/message.ts';
import type { RequestedMode } from '../schema/output.ts';
import type { Boundary } from '../schema/pending.ts';
import type { ProviderCallBlock, SourceBlock } from '../schema/provider-tool.ts';
import type { ResumeMode, TicketBelow } from '../schema/run.ts';
import type { RepeatedRequest, RunEvent, TicketExpiry, ToolResult, Usage } from '../schema/run-event.ts';
import type { InferenceOverrides } from '../schema/run-overrides.ts';
import type { Account, Granted } from '../schema/spending.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { UsageNote } from '../schema/usage.ts';
import type { RemoteOutcome } from '../tools/remote-agent.ts';
import type { Json, ToolOutput } from '../tools/tool.ts';
import type { AcceptReferences, ToolFiles } from '../tools/tool-files.ts';
import type { ResolvedAgent } from './agent.ts';
import type { Mailer, RunTasks } from './background.ts';
import type { RunState } from './state.ts';
import type { RunTrace } from './trace-fact.ts';

/**
 * The working state of the loop: one execution of one run. The runtime creates it and commits its output; the loop
 * fills it. `produced` holds messages that are not part of a commit yet, so that `committed` and `produced` together
 * are always the input of the next inference.
 */

/**
 * The sink of the events of the run. The three delta methods are the hot path: event objects are created only if
 * needed. `whole`: the text of the step so far, which ends with the delta, for receivers that need it later.
 */
export type RunStream = {
  emit(event: RunEvent): void;
  text(delta: string, whole?: string): void;
  reasoning(delta: string, whole?: string): void;
  toolDelta(id: string, argsDelta: string): void;
};

export type ToolCallStatus = StateValueFrom<typeof toolCallMachine>;

/** The wait of a suspended call. */
export type OpenTicket = {
  id: string;
  reason: string;
  /** The question, for people. */
  message?: string;
  resume_mode: ResumeMode;
  /** Missing in tickets that were stored before tickets had digests. */
  digest?: string;
  /** Arguments of the ticket, where they are not those of the call. */
  shows?: Json;
  /** For a delegating call: the tickets of its delegate. */
  tickets?: readonly TicketBelow[];
  /** The call must be decided by another user than the one behind the run. */
  deciders?: 'others';
  expires?: TicketExpiry;
  resume_with?: Json;
};

/** The outcome of a call; `parts` are added to the next answer. All of it is JSON. */
export type Executed = {
  result: ToolResult;
  /** Content for the model, in place of the message or the data of the result. */
  content?: readonly InputBlock[];
  asks: Pick<ToolOutput, 'state' | 'actions'>;
  parts: readonly PartBlock[];
};

/** `numbered`: tickets with the same prefix are counted. */
export type WantedTicket = {
  id: string;
  call_id: string;
  numbered: boolean;
  /** Id of the previous ticket of the call. */
  before: string | undefined;
};

/** A call of the step, with its state. */
export type StepCall = {
  readonly call: ToolCall;
  /** Why the arguments of the model cannot be used. */
  readonly malformed: string | undefined;
  status: ToolCallStatus;
  /** Time of the last status change, in milliseconds. */
  updated_at: number;
  /** Set from its first suspension on. */
  ticket: OpenTicket | undefined;
  /** Arguments that a decision has substituted for those of the model. */
  edited: { arguments: Json } | undefined;
  /**
   * Whether the tool itself has suspended the call: the gates had permitted it, so such a ticket asks for no
   * permission.
   */
  passed: boolean;
  /** While the tool works remotely: the data to resume that work, also in another process. */
  kept: Json | undefined;
  /** The outcome of the tool, while the result waits for those of earlier calls. */
  returned: Executed | undefined;
  /** The last execution of the tool in this process, whatever its outcome. `ended_at` is in milliseconds. */
  ran: { ended_at: number; seconds: number } | undefined;
};

/** The attempts of one inference (`attempts.ts`). */
export type Attempts = {
  /**
   * A request is sent to the model. `allowance`: what budgets have reserved for it. `lost`: what an attempt of an
   * earlier process has spent.
   */
  begin(request: InferenceRequest, allowance?: Granted, lost?: Spent): void;
  /** The current attempt ended without an answer; another one may follow. */
  brokeOff(usage?: InferenceUsage, by?: AnsweredBy): void;
  /** The received output is void: the next attempt starts from the beginning. */
  restart(): void;
  /** The last attempt has ended, with a completion or without one; what was reserved is settled. */
  end(completed?: InferenceEnd): void;
  /** Tokens of all aborted attempts of the inference. */
  lost(): Spent;
};

export type Step = {
  /** 0-based, over all executions of the run. */
  readonly index: number;
  /** Id of the assistant message that the step stores. */
  readonly message_id: string;
  /** `monotonic(clock)` */
  readonly startedAt: number;
  text: string;
  reasoning: string;
  /** Reasoning items that the model expects in the next request. */
  reasoningItems: ReasoningItem[];
  /** Non-text parts of the answer, with their character offsets in the text. */
  parts: { at: number; block: PartBlock | ProviderCallBlock }[];
  /** Sources of the answer; they are placed after everything else. */
  sources: SourceBlock[];
  /** Attempts of its inference; undefined for a step without one. */
  attempts?: Attempts;
  /** Failed requests of its inference that were repeated, at most `MOST_RETRIES`. */
  retries: RepeatedRequest[];
  /** `monotonic(clock)` at the first output of its inference. */
  firstAt: number | undefined;
  /** The settings of its latest request; undefined before the request. */
  sent?: SentSettings;
  /** Whether the inference has been reported with `inference_complete`. */
  reported: boolean;
  /** Whether the step counts, and its hooks have been called. */
  completed: boolean;
  /** The end of the text that readers have not received yet. */
  unsent: string;
  /** Arguments of the call that gives the structured result. */
  result: string | undefined;
};

/** An answer that must be a structured result. `problem`: why it cannot be one, regardless of its text. */
export type Answer = { message_id: string; mode: RequestedMode; text: string; problem?: string };

export type Turn = {
  readonly scope: string;
  /** The principal that gave the input of the run; its user is the one that the run acts for. */
  readonly actsFor: Actor | undefined;
  /** Files of that user. */
  readonly files: ToolFiles | undefined;
  /** Accepts references to them in outputs of tools. */
  readonly acceptFiles: AcceptReferences;
  /** Absent for a run that no decision outlives. */
  readonly mayDecide?: ((author: Actor, call: { agent_id: string; tool: string }) => boolean) | undefined;
  readonly run_id: string;
  readonly thread_id: string;
  /** Changes at a step boundary, when a plugin hands the run to another agent. */
  agent: ResolvedAgent;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stream: RunStream;
  readonly state: RunState;
  readonly observe: LoopObserver;
  /** Undefined for a run that is not observed. */
  trace: RunTrace | undefined;
  /** The trace context of the request. */
  readonly context: TraceContext | undefined;
  /** Starts the trace of a run that is observed from this agent on. */
  traceFor(agent: ResolvedAgent): RunTrace | undefined;
  /** Logs a warning for the operator. */
  warn: ServiceLog['warn'];
  /** Committed history of the thread, oldest first. */
  committed(): readonly Message[];
  /** Size of the committed history in bytes. */
  committedBytes(): number;
  /** Maximum size of a history that a run loads. */
  readonly mostBytes: number;
  /** Messages of this run for the next commit. */
  produced: Message[];
  /** Whether its `run_start` hooks have run. */
  started: boolean;
  readonly maxPhaseRounds: number;
  /** Maximum number of executed calls per step. */
  readonly maxCalls: number;
  /** @throws Invalid when there is no such agent, or it cannot be resolved */
  resolveAgent(id: string): ResolvedAgent;
  step: Step | undefined;
  /** The last step, when its answer was cut off. */
  cutOff: Step | undefined;
  /** The calls of the last step; suspended ones stay here after it. */
  calls: StepCall[];
  /** Received decisions, by the id of their call. */
  readonly decisions: Map<string, Resume>;
  /** Returns the id of a new ticket of a call, unique in the thread; durable with the next commit. */
  issueTicket(wanted: WantedTicket): string;
  /** Whether input for this run is pending. */
  hasInput(): boolean;
  /** Number of finished inference rounds of the run. */
  steps: number;
  /** Whether the last inference requested no tools and was not cut off. */
  answered: boolean;
  continuations: number;
  /** The compactor of the thread; undefined when the agent has no context policy. */
  readonly compactor: Compactor | undefined;
  /** Its background tasks; undefined for a run that cannot have any. */
  readonly tasks: RunTasks | undefined;
  readonly mail: Mailer | undefined;
  /** The account that its inferences are charged to; undefined while there are no budgets. */
  account(): Account | undefined;
  /** Counts what an inference has used, with the next commit. */
  noteUsage(note: UsageNote): void;
  /** Logs an event about the thread, without a run, with the next commit. */
  logCompaction(event: CompactionEvent): void;
  /** A note to the model before its next answer, after the results of the step. */
  note: string | undefined;
  /** System text of the client, after the system prompt of the agent. */
  readonly instructions?: string | undefined;
  /** Whether a completion that was cut off may be continued. */
  readonly continuesTruncated: boolean;
  /** Calls of tools of the agent that the run executes at most; the client executes its own. */
  readonly maxOwnCalls: number | undefined;
  /** Overrides of the activation (agent-loop.md 1.6). */
  readonly overrides: Partial<InferenceOverrides>;
  inputTokens: number;
  outputTokens: number;
  /** Cost of all inferences of the run, including aborted attempts; undefined while no price is known. */
  costUsd: number | undefined;
  /** Tokens of aborted attempts, in addition to the tokens above. */
  readonly lost: Tokens;
  /** Whether the process that executed the run before died during an inference. */
  lostAttempt: boolean;
  /** Text of the last assistant message of this run. */
  response: string;
  /** Schema of the structured result from the request, in place of the agent's; null disables it. */
  readonly outputSchema: JsonObject | null | undefined;
  /** The last answer of a run that has a schema, until the next inference. */
  answer: Answer | undefined;
  /** The result that fits the schema, until the next inference. */
  structured: { value: Json } | undefined;
  /** The outcome of the last step of a remote agent. */
  outcome?: RemoteOutcome | undefined;
  /** Signal of the current inference, or of the last one. */
  inference?: AbortSignal;
  /** Set when the service releases the run: its remote work continues. */
  isReleased?: boolean;
  /** Makes all output so far durable; pending input for this boundary joins the history after it. */
  checkpoint(boundary?: Boundary): Promise<{ taken: number }>;
};

/** Receives counts and times; must not throw. Durations are in seconds; `firstSeconds`: until the first output. */
export type LoopObserver = {
  inference: {
    ended(
      call: {
        agent: string;
        model: string;
        provider: string;
        seconds: number;
        firstSeconds?: number;
        usage?: Usage;
        /** USD; undefined without prices. */
        cost?: number | undefined;
      } & ({ status: 'ok' } | { status: 'error'; errorClass: string }),
    ): void;
    /** An attempt was aborted; its tokens are estimated. */
    cutOff(call: { agent: string; model: string; provider: string } & Spent): void;
  };
  tools: {
    ended(
      call: { agent: string; tool: string; seconds: number } & (
        | { status: 'succeeded' | 'suspended' }
        | { status: 'failed'; errorClass: string }
      ),
    ): void;
  };
  agents: {
    /** A call of the agent was suspended, or a decision has ended its suspension. */
    suspension(agent: string, decided?: 'resume' | 'cancel'): void;
    /** The agent has handed the run to another one. */
    handoff(agent: string): void;
    /** A delegation of the agent to another one has ended. */
    delegation(agent: string, ended: { status: 'ok' | 'error'; seconds: number }): void;
  };
  outputs: {
    /** A structured result fits its schema, or does not fit and is not requested again. */
    ended(mode: RequestedMode, result: 'valid' | 'invalid'): void;
    repaired(): void;
  };
  tasks: {
    ended(status: 'completed' | 'failed' | 'cancelled', seconds: number): void;
  };
};

/** Returns the arguments that the tool is executed with, and that are shown to people. */
export const argumentsOf = ({ call, edited }: Pick<StepCall, 'call' | 'edited'>): Json =>
  edited ? edited.arguments : call.arguments;

/** Adds a message to the next commit, attributed to the run and the step. */
export const produce = (
  turn: Turn,
  {
    metadata,
    ...message
  }: Omit<Message, 'metadata'> & {
    metadata?: Pick<MessageMetadata, 'denied' | 'reasoning' | 'reasoning_items'>;
  },
): Message => {
  const attributed: Message = { ...message };
  attributed.metadata = turn.step
    ? { run_id: turn.run_id, step_index: turn.step.index, ...metadata }
    : { run_id: turn.run_id, ...metadata };
  turn.produced.push(attributed);
  return attributed;
};
