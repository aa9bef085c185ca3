import { decodeGemini } from './gemini-decode.ts';
import { encodeGemini, type GeminiRules } from './gemini-encode.ts';
import type { Wire } from './wire.ts';

/**
 * The protocol of Gemini (`streamGenerateContent?alt=sse`), of the Gemini API and of Vertex AI.
 *
 * Guarantees: a thought signature is sent back on the part that it came with; results of calls are one content with one
 * response for each call, in the order of the calls; a call that the provider gave no id gets one that is unique.
 */
export const geminiWire = (rules: GeminiRules): Wire => ({
  format: 'gemini',
  encode: (call) => encodeGemini(call, rules),
  decoder: decodeGemini,
});
