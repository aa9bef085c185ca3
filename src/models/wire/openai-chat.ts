import { createChatDecoder } from './openai-chat-decode.ts';
import { encodeChat } from './openai-chat-encode.ts';
import type { ChatOptions } from './openai-chat-options.ts';
import type { Wire } from './wire.ts';

/** Chat Completions, as OpenAI defines it and as most other services speak it. */
export const openaiChatWire = (options: ChatOptions): Wire => ({
  format: 'openai-chat',
  encode: (call) => encodeChat(call, options),
  decoder: (answer) => createChatDecoder(answer, options),
});
