import { decodeGemini } from './gemini-decode.ts';
import { encodeGemini, type GeminiRules } from './gemini-encode.ts';
import type { Wire } from './wire.ts';

/**
 * The Gemini protocol (`streamGenerateContent?alt=sse`) of the Gemini API and Vertex AI.
 *
 * Guarantees: a thought signature is sent back on the part with which it arrived; results of calls are one content with
 * one response per call, in the order of the calls; a call without an id from the provider gets a unique one.
 */
export const geminiWire = (rules: GeminiRules): Wire => ({
  format: 'gemini',
  encode: (call) => encodeGemini(call, rules),
  decoder: decodeGemini,
});
