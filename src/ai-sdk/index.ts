/** Models of the AI SDK as providers, for programs that embed Troupe. */

export { type AiSdkOptions, type AiSdkSource, fromAiSdk } from './from-ai-sdk.ts';
export type { AiSdkCall, AiSdkModel, AiSdkProviderOptions } from './model.ts';
