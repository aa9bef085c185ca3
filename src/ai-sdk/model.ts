import type { JsonObject } from '../schema/json.ts';

/**
 * The used part of a language model of the AI SDK: `LanguageModelV3` (AI SDK 6) or `LanguageModelV4` (AI SDK 7).
 * Packages of both versions satisfy this type, so its declaration depends on neither.
 *
 * @example
 * ```ts
 * import { cohere } from '@ai-sdk/cohere';
 *
 * const model: AiSdkModel = cohere('command-a-03-2025');
 * ```
 */
export type AiSdkModel = {
  readonly specificationVersion: 'v3' | 'v4';
  /** The package's name of its provider. */
  readonly provider: string;
  readonly modelId: string;
  doStream(call: AiSdkCall): PromiseLike<{ stream: ReadableStream<{ readonly type: string }> }>;
};

/**
 * Options of a call or a message, by the name of the package that reads them.
 *
 * @example
 * ```ts
 * const options: AiSdkProviderOptions = { bedrock: { guardrailConfig: { guardrailIdentifier: 'guard-1' } } };
 * ```
 */
export type AiSdkProviderOptions = Record<string, JsonObject>;

/**
 * The options of one call of a model, as `doStream` receives them. The forms of prompt, tools and options depend on
 * the specification version of the model.
 *
 * @example
 * ```ts
 * const traced = (model: AiSdkModel): AiSdkModel => ({
 *   specificationVersion: model.specificationVersion,
 *   provider: model.provider,
 *   modelId: model.modelId,
 *   doStream: (call: AiSdkCall) => {
 *     console.log(model.modelId, call.temperature);
 *     return model.doStream(call);
 *   },
 * });
 * ```
 */
export type AiSdkCall = {
  prompt: object[];
  tools?: object[];
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stopSequences?: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Version 4 only. */
  reasoning?: string;
  headers?: Record<string, string | undefined>;
  providerOptions?: Record<string, object>;
  abortSignal?: AbortSignal;
};
