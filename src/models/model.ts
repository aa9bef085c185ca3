import type { AnswerPart } from '../schema/answer-part.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import type { Message, ReasoningItem } from '../schema/message.ts';
import type { ModelSpec } from '../schema/model.ts';
import type { ToolChoice } from '../schema/model-settings.ts';
import type { ProviderCall, ProviderTool } from '../schema/provider-tool.ts';
import type { Usage } from '../schema/run-event.ts';
import type { InferenceOverrides } from '../schema/run-overrides.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/**
 * The interface between the loop and a model: a model pushes its completion into a sink and returns how it ended.
 *
 * Guarantees: the sink is called synchronously, in the order of the provider's stream, and never again once the signal
 * is aborted or the promise has settled. A failure is a `ModelError`, unless the sink itself threw.
 * Cost: one call per delta; this layer adds no event object and no promise.
 */

export type { ToolChoice };

/** Kinds of input that a model is known to accept; undefined if unknown. */
export type AcceptedInput = NonNullable<ModelSpec['modalities']>['input'];

/**
 * One request to a model: the prompt, the tools and the settings (agent-loop.md 9.1).
 *
 * @example
 * ```ts
 * const sizeOf = ({ system, messages, tools }: InferenceRequest): string =>
 *   `${system.length} system texts, ${messages.length} messages, ${tools.length} tools`;
 * ```
 */
export type InferenceRequest = {
  /** System texts in order. */
  system: readonly string[];
  /** The history without the system prompt; every tool message responds to an earlier call. */
  messages: readonly Message[];
  tools: readonly ToolDescriptor[];
  /** How the model may use its tools. Default: the provider's default, which is `auto`. */
  toolChoice?: ToolChoice;
  /** Tools that the provider executes. A model does not offer the ones that it lacks. */
  provider_tools?: readonly ProviderTool[];
  /** `null` or absent = unset. */
  overrides: Partial<InferenceOverrides>;
  /** The run of the inference; a pool sends the inferences of one session to the same member. */
  session?: { thread_id: string; run_id: string };
  /**
   * The completion must be JSON that fits the schema. `strict`: the provider enforces the schema, if it supports that.
   */
  output?: { name: string; schema: JsonObject; strict: boolean };
  /**
   * Enables the provider's prompt cache. `stable_messages`: the number of leading `messages` that will be sent again.
   */
  cache?: { stable_messages: number };
  /** A stream that is silent for this long has failed (agent-loop.md 9.4). A model that cannot detect it ignores it. */
  stream_idle_timeout_secs?: number;
  /** Kinds of input that the model is known to accept; absent if unknown. */
  accepts?: AcceptedInput;
  /** The trace of the request, which is sent to the provider. */
  trace?: TraceContext;
};

/** Token counts of an inference, with fields that affect only its cost. */
export type InferenceUsage = Usage & {
  /** The part of `cache_creation_tokens` that the provider keeps for an hour instead of five minutes. */
  cache_creation_1h_tokens?: number;
  /** The charge that the provider reports for the inference; it takes precedence over prices. */
  reported_cost_usd?: number;
};

/**
 * A web page or a document that a completion refers to.
 *
 * @example
 * ```ts
 * const cite = (sink: InferenceSink): void => {
 *   const source: InferenceSource = { type: 'url', id: 'source_1', url: 'https://example.com', title: 'Example' };
 *   sink.source?.(source);
 * };
 * ```
 */
export type InferenceSource =
  | { type: 'url'; id: string; url: string; title?: string }
  | { type: 'document'; id: string; media_type: string; title: string; filename?: string };

/** The settings of a request in the form that its provider receives. */
export type SentSettings = {
  settings: JsonObject;
  /** Settings that the provider or the model is documented to reject. `sent`: the replacement; null: omitted. */
  adjusted: readonly { setting: string; sent: Json; reason: string }[];
};

/**
 * Receives a completion from a provider: deltas in the order of its stream, called synchronously. Optional functions
 * are absent where the caller has no use for them.
 *
 * @example
 * ```ts
 * const callTool = (sink: InferenceSink): void => {
 *   sink.text('I look it up.');
 *   sink.toolStart('call_1', 'weather');
 *   sink.toolEnd('call_1', JSON.stringify({ city: 'Rome' }));
 * };
 * ```
 */
export type InferenceSink = {
  /** Called before each request to the provider; the last call belongs to the request that succeeded. */
  sent?(sent: SentSettings): void;
  text(delta: string): void;
  reasoning(delta: string): void;
  /** Complete opaque text that must be sent back to the provider. */
  reasoningEncrypted(value: string): void;
  /** Reasoning that the next request to the same model must contain, at its position in the completion. */
  reasoningItem?(item: Omit<ReasoningItem, 'after'>): void;
  /** A non-text part of the completion, at its position in the text. A sink omits parts that it cannot store. */
  part?(part: AnswerPart): void;
  source?(source: InferenceSource): void;
  /**
   * A call of a tool that the provider executes, when it begins and after each change. Fields that a change omits keep
   * their values.
   */
  providerCall?(call: ProviderCall): void;
  toolStart(id: string, name: string): void;
  toolDelta(id: string, argsDelta: string): void;
  /** `argsText` is the whole JSON text of the arguments; it is malformed only if the model wrote it so. */
  toolEnd(id: string, argsText: string): void;
  /** The call was interrupted and will not end. */
  toolCancel?(id: string, name: string, reason: string): void;
  /**
   * The attempt was interrupted, and the completion is continued or restarted. `usage`: the tokens that the provider
   * reported before. `by`: the pool member that was called.
   * Called before `reset` and `toolCancel`.
   */
  brokeOff?(usage?: InferenceUsage, by?: AnsweredBy): void;
  /** The request to the provider failed, and the next one follows after the wait. */
  retrying?(failed: { error: string; wait_ms: number }): void;
  /** Everything received so far is void; the completion restarts. */
  reset?(reason: string): void;
};

/**
 * The reason why a completion ended: at its end, at the limit of tokens, with tool calls, or at a stop sequence.
 *
 * @example
 * ```ts
 * const REASONS: Record<string, StopReason> = { stop: 'EndTurn', length: 'MaxTokens', tool_calls: 'ToolUse' };
 * ```
 */
export type StopReason = 'EndTurn' | 'MaxTokens' | 'ToolUse' | 'StopSequence';

/** The model that produced the completion, if it is not the requested one: a member of a pool. */
export type AnsweredBy = Pick<Model, 'id' | 'provider' | 'upstream'>;

/**
 * The end of a completion, which a provider returns after the last delta.
 *
 * @example
 * ```ts
 * const usage = { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 };
 * const end: InferenceEnd = { stop: 'EndTurn', usage };
 * ```
 */
export type InferenceEnd = {
  usage?: InferenceUsage;
  /** Undefined if the model has no price. */
  cost_usd?: number;
  stop: StopReason;
  /** The provider did not report the end of its completion, although the response body ended regularly. */
  cutShort?: boolean;
  by?: AnsweredBy;
  /** Text for the model before its next completion, as a user message after the results of its calls. */
  note?: string;
};

export type Structured = 'with_tools' | 'alone';

/**
 * A model of a provider, as the loop calls it. `defineProvider` makes it; programs implement it only for costs or
 * structured results that depend on the model.
 *
 * @example
 * ```ts
 * const priced = (model: Model): Model => ({
 *   ...model,
 *   costUsd: ({ completion_tokens = 0 }) => (completion_tokens * 2) / 1_000_000,
 * });
 * ```
 */
export type Model = {
  id: string;
  /** The id of the provider. */
  provider: string;
  /** The name of the model at the provider; for a pool, its id. */
  upstream: string;
  /**
   * The cost of tokens; undefined if the model that used them has no price. `by`: see `InferenceSink.brokeOff`; without
   * it, a pool returns the cost of its most expensive member.
   */
  costUsd?(usage: InferenceUsage, upstream?: string | null, by?: AnsweredBy): number | undefined;
  /**
   * Whether the provider has a field for this schema of a completion, and accepts tools in the same request.
   *
   * @param upstream name of the model at the provider, if the request overrides it
   */
  structured?(schema: JsonObject, upstream?: string): Structured | undefined;
  stream(request: InferenceRequest, sink: InferenceSink, signal: AbortSignal): Promise<InferenceEnd>;
};

/**
 * A provider of models for `createTroupe`. `model` returns the model of an entry.
 *
 * @example
 * ```ts
 * const parrot = defineProvider({
 *   id: 'parrot',
 *   stream: async (_, sink) => {
 *     sink.text('Hello');
 *     return { stop: 'EndTurn' };
 *   },
 * });
 * const renamed: Provider = { ...parrot, id: 'second-parrot' };
 * ```
 */
export type Provider = {
  id: string;
  model(spec: ModelSpec): Model;
};
