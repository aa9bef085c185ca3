import type { GoogleGenerativeAIProviderSettings } from '@ai-sdk/google';
import { type AiSdkAdapter, onceLoaded } from './ai-sdk.ts';

/** Models that speak the protocol of Gemini, wherever they are. */
export const googleLanguage = (settings: GoogleGenerativeAIProviderSettings): AiSdkAdapter['language'] =>
  onceLoaded(async () => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI(settings).languageModel;
  });
