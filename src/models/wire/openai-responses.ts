import { createResponsesDecoder } from './openai-responses-decode.ts';
import { encodeResponses } from './openai-responses-encode.ts';
import type { Wire } from './wire.ts';

/**
 * OpenAI's Responses protocol.
 *
 * The whole history is sent with each request and the provider stores nothing (`store: false`). Reasoning models
 * therefore return their reasoning encrypted, and the next request contains it at the same positions.
 */
export const openaiResponsesWire = (): Wire => ({
  format: 'openai-responses',
  encode: encodeResponses,
  decoder: createResponsesDecoder,
});
