import { anthropic } from './anthropic.ts';
import type { UpstreamFormat } from './format.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { FormatName } from './request.ts';

/** Every wire format that the upstream serves. */
export const UPSTREAM_FORMATS: Readonly<Record<FormatName, UpstreamFormat>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
};
