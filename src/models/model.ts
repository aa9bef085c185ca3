import type { AnswerPart } from '../schema/answer-part.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import type { Message, ReasoningItem } from '../schema/message.ts';
import type { ModelSpec } from '../schema/model.ts';
import type { ToolChoice } from '../schema/model-settings.ts';
import type { ProviderCall, ProviderTool } from '../schema/provider-tool.ts';
import type { InferenceOverrides } from '../schema/run.ts';
import type { Usage } from '../schema/run-event.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/**
 * What the loop programs against: a model pushes its answer into a sink and returns how it ended.
 *
 * Guarantees: the sink is called synchronously, in the order of the provider's stream, and never again once the
 * signal has fired or the promise has settled. A failure is a `ModelError`, unless the sink itself threw.
 * Costs: one call a delta; no event object and no promise of this layer's own.
 */

export type { ToolChoice };

/** Kinds of input that a model is known to accept; undefined where nothing is known. */
export type AcceptedInput = NonNullable<ModelSpec['modalities']>['input'];

export type InferenceRequest = {
  /** System texts in order. */
  system: readonly string[];
  /** History without the system prompt; every tool message answers a call before it. */
  messages: readonly Message[];
  tools: readonly ToolDescriptor[];
  /** How the model may use its tools. Absent: as the provider decides, which is `auto`. */
  toolChoice?: ToolChoice;
  /** Tools that the provider executes. A model that lacks one of them does not offer it. */
  provider_tools?: readonly ProviderTool[];
  /** `null` or absent = unset. */
  overrides: Partial<InferenceOverrides>;
  /** Whose inference it is; a pool sends the inferences of one session to the same member. */
  session?: { thread_id: string; run_id: string };
  /** The answer is to be JSON that fits the schema. `strict`: it cannot be anything else, where the provider has that. */
  output?: { name: string; schema: JsonObject; strict: boolean };
  /** Asks the provider to keep what comes again. `stable_messages`: how many of `messages`, from the first. */
  cache?: { stable_messages: number };
  /** A stream silent for so long broke off (agent-loop.md 9.4). A model that cannot tell ignores it. */
  stream_idle_timeout_secs?: number;
  /** Kinds of input that the model is known to accept; absent where nothing is known. */
  accepts?: AcceptedInput;
  /** Whose trace the request belongs to; sent along. */
  trace?: TraceContext;
};

/** Tokens of an inference, with what only its cost depends on. */
export type InferenceUsage = Usage & {
  /** The part of `cache_creation_tokens` that the provider keeps for an hour instead of five minutes. */
  cache_creation_1h_tokens?: number;
  /** What the provider itself charges for the inference; it counts instead of prices. */
  reported_cost_usd?: number;
};

/** An address or a document that an answer refers to. */
export type InferenceSource =
  | { type: 'url'; id: string; url: string; title?: string }
  | { type: 'document'; id: string; media_type: string; title: string; filename?: string };

/** The settings of a request, as its provider receives them. */
export type SentSettings = {
  settings: JsonObject;
  /** Settings that the provider or the model is documented to refuse. `sent`: in their place; null: left out. */
  adjusted: readonly { setting: string; sent: Json; reason: string }[];
};

export type InferenceSink = {
  /** Called ahead of each request to the provider; the last call is about the request that was answered. */
  sent?(sent: SentSettings): void;
  text(delta: string): void;
  reasoning(delta: string): void;
  /** Opaque text that a provider wants back; complete. */
  reasoningEncrypted(value: string): void;
  /** Reasoning that the same model wants back in the next request, where it comes in the answer. */
  reasoningItem?(item: Omit<ReasoningItem, 'after'>): void;
  /** A part of the answer that is not text, where it comes in the text. One that cannot be taken is left out. */
  part?(part: AnswerPart): void;
  /** What the answer refers to. */
  source?(source: InferenceSource): void;
  /**
   * A call of a tool that the provider executes, when it begins and with each change. Fields that a change leaves out
   * keep their values.
   */
  providerCall?(call: ProviderCall): void;
  toolStart(id: string, name: string): void;
  toolDelta(id: string, argsDelta: string): void;
  /** `argsText` is the whole JSON text of the arguments; it is broken only if the model wrote it so. */
  toolEnd(id: string, argsText: string): void;
  /** The call breaks off and will not end. */
  toolCancel?(id: string, name: string, reason: string): void;
  /**
   * The attempt broke off, and the answer is continued or started over. `usage`: what the provider reported before.
   * `by`: the member of a pool that was asked.
   * Called ahead of `reset` and `toolCancel`.
   */
  brokeOff?(usage?: InferenceUsage, by?: AnsweredBy): void;
  /** Everything heard so far is void; the answer starts over. */
  reset?(reason: string): void;
};

export type StopReason = 'EndTurn' | 'MaxTokens' | 'ToolUse' | 'StopSequence';

/** The model that answered, where it is not the one that was asked: a member of a pool. */
export type AnsweredBy = Pick<Model, 'id' | 'provider' | 'upstream'>;

export type InferenceEnd = {
  usage?: InferenceUsage;
  /** Undefined where the model has no price. */
  cost_usd?: number;
  stop: StopReason;
  /** The provider did not say that its answer ended, although the body of its response ended in order. */
  cutShort?: boolean;
  by?: AnsweredBy;
  /** For the model to read before its next answer, as a user message after the results of its calls. */
  note?: string;
};

export type Structured = 'with_tools' | 'alone';

export type Model = {
  id: string;
  /** id of the provider */
  provider: string;
  /** name of the model at the provider; of a pool, its id */
  upstream: string;
  /** What tokens cost; undefined where the model that used them has no price. `by`: see `InferenceSink.brokeOff`. */
  costUsd?(usage: InferenceUsage, upstream?: string | null, by?: AnsweredBy): number | undefined;
  /**
   * Whether its provider has a field for this schema of an answer, and takes tools in the same request.
   *
   * @param upstream name of the model at the provider, where the request has another one
   */
  structured?(schema: JsonObject, upstream?: string): Structured | undefined;
  stream(request: InferenceRequest, sink: InferenceSink, signal: AbortSignal): Promise<InferenceEnd>;
};

export type Provider = {
  id: string;
  model(spec: ModelSpec): Model;
};
