import type { JsonObject } from '../schema/json.ts';

/**
 * A language model of the AI SDK, as far as it is used: `LanguageModelV3` (AI SDK 6) or `LanguageModelV4` (AI SDK 7).
 * Packages of both versions satisfy this type, so its declaration depends on neither.
 */
export type AiSdkModel = {
  readonly specificationVersion: 'v3' | 'v4';
  /** The name that the package gives its provider. */
  readonly provider: string;
  readonly modelId: string;
  doStream(call: AiSdkCall): PromiseLike<{ stream: ReadableStream<{ readonly type: string }> }>;
};

/** Options by the name of the package that reads them: `{ bedrock: { … } }`. */
export type AiSdkProviderOptions = Record<string, JsonObject>;

/** What a model is asked with. Its prompt, tools and options are in the form of its specification. */
export type AiSdkCall = {
  prompt: object[];
  tools?: object[];
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stopSequences?: string[];
  seed?: number;
  /** Of version 4. */
  reasoning?: string;
  headers?: Record<string, string | undefined>;
  providerOptions?: Record<string, object>;
  abortSignal?: AbortSignal;
};
