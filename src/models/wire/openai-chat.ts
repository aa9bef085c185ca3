import type { ChatOptions } from '../chat-options.ts';
import { createChatDecoder } from './openai-chat-decode.ts';
import { encodeChat } from './openai-chat-encode.ts';
import type { Wire } from './wire.ts';

/** Chat Completions, as defined by OpenAI and implemented by most other services. */
export const openaiChatWire = (options: ChatOptions): Wire => ({
  format: 'openai-chat',
  encode: (call) => encodeChat(call, options),
  decoder: (answer) => createChatDecoder(answer, options),
});
