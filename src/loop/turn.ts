import type { StateValueFrom } from 'xstate';
import type { toolCallMachine } from '../../machines/tool-call.ts';
import type { AnsweredBy, InferenceRequest, InferenceUsage, SentSettings } from '../models/model.ts';
import type { CompactionEvent } from '../plugins/context/compaction-marks.ts';
import type { Compactor } from '../plugins/context/compactor.ts';
import type { PartBlock } from '../schema/answer-part.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { Spent, Tokens } from '../schema/cut-off.ts';
import type { JsonObject } from '../schema/json.ts';
import type { InputBlock, Message, MessageMetadata, ReasoningItem, ToolCall } from '../schema/message.ts';
import type { AskedMode } from '../schema/output.ts';
import type { Boundary } from '../schema/pending.ts';
import type { ProviderCallBlock, SourceBlock } from '../schema/provider-tool.ts';
import type { InferenceOverrides, Resume, ResumeMode, TicketBelow } from '../schema/run.ts';
import type { RunEvent, TicketExpiry, ToolResult, Usage } from '../schema/run-event.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { RemoteOutcome } from '../tools/remote-agent.ts';
import type { Json, ToolOutput } from '../tools/tool.ts';
import type { ResolvedAgent } from './agent.ts';
import type { Mailer, RunTasks } from './background.ts';
import type { RunState } from './state.ts';
import type { RunTrace } from './trace-fact.ts';

/**
 * What the loop works on: one execution of one run. The runtime makes it and commits what it gathers; the loop
 * fills it. `produced` holds messages that no commit has taken yet, so history() is always what the next
 * inference must see.
 */

/** Where events of the run go. The four delta forms are the hot path: no event object is made unless needed. */
export type RunStream = {
  emit(event: RunEvent): void;
  text(delta: string): void;
  reasoning(delta: string): void;
  toolDelta(id: string, argsDelta: string): void;
};

export type ToolCallStatus = StateValueFrom<typeof toolCallMachine>;

/** What a suspended call waits for. */
export type OpenTicket = {
  id: string;
  reason: string;
  /** What is asked, for people. */
  message?: string;
  resume_mode: ResumeMode;
  /** Missing where the ticket was stored before tickets had digests. */
  digest?: string;
  /** Of a delegating call: the tickets of its delegate. */
  tickets?: readonly TicketBelow[];
  expires?: TicketExpiry;
  resume_with?: Json;
};

/** What a call came to; `parts`: what it adds to the next answer. All of it is JSON. */
export type Executed = {
  result: ToolResult;
  /** What the model reads in place of the message or the data of the result. */
  content?: readonly InputBlock[];
  asks: Pick<ToolOutput, 'state' | 'actions'>;
  parts: readonly PartBlock[];
};

/** `numbered`: the tickets of the same prefix are counted. */
export type WantedTicket = {
  id: string;
  call_id: string;
  numbered: boolean;
  /** Id of the ticket that the call had before. */
  before: string | undefined;
};

/** A call of the step, with what became of it. */
export type StepCall = {
  readonly call: ToolCall;
  /** Why the arguments that the model wrote cannot be used. */
  readonly malformed: string | undefined;
  status: ToolCallStatus;
  /** milliseconds; when the status last changed */
  updated_at: number;
  /** Set from its first suspension on. */
  ticket: OpenTicket | undefined;
  /** What a decision has put in place of the arguments of the model. */
  edited: { arguments: Json } | undefined;
  /** Its tool has suspended it: the gates had let it pass, so a ticket of the tool asks for no permission. */
  passed: boolean;
  /** While its tool is at work elsewhere: by which it goes on there, also in another process. */
  kept: Json | undefined;
  /** What its tool returned, while the result waits for those of earlier calls. */
  returned: Executed | undefined;
  /** How its tool was executed last in this process, whatever came of it. `ended_at` is milliseconds. */
  ran: { ended_at: number; seconds: number } | undefined;
};

/** The attempts of one inference (`attempts.ts`). */
export type Attempts = {
  /** The model is asked. */
  begin(request: InferenceRequest): void;
  /** The attempt in progress ended without an answer; another one may follow. */
  brokeOff(usage?: InferenceUsage, by?: AnsweredBy): void;
  /** What was received is void: the next attempt starts from the beginning. */
  restart(): void;
  /** Nothing can break off any more. */
  end(): void;
  /** Of all attempts of the inference that broke off. */
  lost(): Spent;
};

export type Step = {
  /** 0-based, over all executions of the run. */
  readonly index: number;
  /** Id of the assistant message that the step persists. */
  readonly message_id: string;
  /** `monotonic(clock)` */
  readonly startedAt: number;
  text: string;
  reasoning: string;
  /** What the model wants back with the next request. */
  reasoningItems: ReasoningItem[];
  /** What the answer holds besides its text, and behind how many characters of it. */
  parts: { at: number; block: PartBlock | ProviderCallBlock }[];
  /** What the answer refers to; they stand behind everything else. */
  sources: SourceBlock[];
  /** Of its inference; undefined for a step without one. */
  attempts?: Attempts;
  /** The settings of its latest request; undefined before the request. */
  sent?: SentSettings;
  /** The inference has been reported with `inference_complete`. */
  reported: boolean;
  /** It counts, and its hooks have been called. */
  completed: boolean;
  /** The end of its text, as long as readers do not have it. */
  unsent: string;
  /** Arguments of the call that gives the structured result. */
  result: string | undefined;
};

/** An answer that is to be a structured result. `problem`: why it cannot be one, whatever its text is. */
export type Answer = { message_id: string; mode: AskedMode; text: string; problem?: string };

export type Turn = {
  readonly scope: string;
  readonly run_id: string;
  readonly thread_id: string;
  /** Changes at a step boundary, when a plugin hands the run to another agent. */
  agent: ResolvedAgent;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stream: RunStream;
  readonly state: RunState;
  readonly observe: LoopObserver;
  /** Of a run that is not observed there is none. */
  trace: RunTrace | undefined;
  /** Whose trace the run belongs to, as the request said that it came with. */
  readonly context: TraceContext | undefined;
  /** Begins the trace of a run that is observed from this agent on. */
  traceFor(agent: ResolvedAgent): RunTrace | undefined;
  /** For the operator's log. */
  warn(data: object, text: string): void;
  /** Committed history of the thread, oldest first. */
  committed(): readonly Message[];
  /** Bytes of that. */
  committedBytes(): number;
  /** That a run loads. */
  readonly mostBytes: number;
  /** Messages of this run that wait for the next commit. */
  produced: Message[];
  /** Its `run_start` hooks have run. */
  begun: boolean;
  readonly maxPhaseRounds: number;
  /** Calls of one step that are executed. */
  readonly maxCalls: number;
  /** @throws Invalid when there is no such agent, or it cannot be resolved */
  resolveAgent(id: string): ResolvedAgent;
  step: Step | undefined;
  /** The last step, when its answer was cut off. */
  cutOff: Step | undefined;
  /** The calls of the last step; suspended ones stay here after it. */
  calls: StepCall[];
  /** Decisions that have come, by the id of the call that they are on. */
  readonly decisions: Map<string, Resume>;
  /** The id of a new ticket of a call, unique in the thread; durable with the next commit. */
  issueTicket(wanted: WantedTicket): string;
  /** Input for this run waits to join the history. */
  hasInput(): boolean;
  /** Finished inference rounds of the run. */
  steps: number;
  /** The last inference asked for no tools and was not cut off. */
  answered: boolean;
  continuations: number;
  /** Of the thread; undefined when the agent has no context policy. */
  readonly compactor: Compactor | undefined;
  /** Its background tasks; undefined where a run can have none. */
  readonly tasks: RunTasks | undefined;
  readonly mail: Mailer | undefined;
  /** An event about the thread, of no run; logged with the next commit. */
  tell(event: CompactionEvent): void;
  /** For the model to read before its next answer, behind the results of the step. */
  note: string | undefined;
  /** Of the activation (agent-loop.md 1.6). */
  readonly overrides: Partial<InferenceOverrides>;
  inputTokens: number;
  outputTokens: number;
  /** Of all inferences of the run, with attempts that broke off; undefined while no price of any is known. */
  costUsd: number | undefined;
  /** Tokens of attempts that broke off, in addition to those. */
  readonly lost: Tokens;
  /** The process that executed the run before died during an inference. */
  lostAttempt: boolean;
  /** Text of the last assistant message of this run. */
  response: string;
  /** Of the request: schema of the structured result in place of that of the agent; null turns it off. */
  readonly outputSchema: JsonObject | null | undefined;
  /** The last answer of a run that has a schema, until the next inference. */
  answer: Answer | undefined;
  /** The result that fits the schema, until the next inference. */
  structured: { value: Json } | undefined;
  /** What the last step came to, of an agent that runs elsewhere. */
  outcome?: RemoteOutcome | undefined;
  /** Of the inference under way, or of the last one. */
  inference?: AbortSignal;
  /** Set when the service lets go of the run: what works for it elsewhere goes on. */
  letGo?: boolean;
  /** Makes everything produced so far durable; input that waits for this boundary joins the history behind it. */
  checkpoint(boundary?: Boundary): Promise<{ taken: number }>;
};

/** Counts and times; must not throw. Durations are seconds; `firstSeconds`: until something of the answer came. */
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
    /** An attempt broke off; its tokens are estimated. */
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
    /** A call of the agent begins to wait, or this decision ends its wait. */
    suspension(agent: string, decided?: 'resume' | 'cancel'): void;
    /** The agent gives the run to another one. */
    handoff(agent: string): void;
    /** The agent has given a task to another one, and knows what came of it. */
    delegation(agent: string, ended: { status: 'ok' | 'error'; seconds: number }): void;
  };
  outputs: {
    /** A structured result fits its schema, or does not and is not asked for again. */
    ended(mode: AskedMode, result: 'valid' | 'invalid'): void;
    repaired(): void;
  };
  tasks: {
    /** A background task has ended. */
    ended(status: 'completed' | 'failed' | 'cancelled', seconds: number): void;
  };
};

/** What the tool is executed with, and what people are shown. */
export const argumentsOf = ({ call, edited }: Pick<StepCall, 'call' | 'edited'>): Json =>
  edited ? edited.arguments : call.arguments;

/** Appends a message to what the next commit takes, attributed to the run and the step. */
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
