/**
 * Models of the AI SDK as providers, for programs that embed Troupe.
 *
 * `fromAiSdk` converts a model of a package such as `@ai-sdk/cohere` for `defineProvider`. See
 * guides/tools-and-plugins.md.
 *
 * @module troupe/ai-sdk
 */

export { type AiSdkOptions, type AiSdkSource, fromAiSdk } from './from-ai-sdk.ts';
export type { AiSdkCall, AiSdkModel, AiSdkProviderOptions } from './model.ts';
