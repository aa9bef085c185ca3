import type { JsonObject } from '../../schema/json.ts';
import { keptPart } from './gemini-built-in-tools.ts';
import { countOf, textOf } from './read.ts';

/**
 * Thought signatures in the form in which they are stored with a completion. A signature belongs to one part. A call or
 * a text with a signature is sent back unchanged, and is not joined with an unsigned part.
 */

type Signed =
  | { on: 'call'; signature: string }
  /** `length`: characters of the following text that were in the part. */
  | { on: 'text'; signature: string; length: number }
  /** A thought, or a call that Gemini executed. */
  | { on: 'part'; part: JsonObject };

export const signatureOfCall = (thoughtSignature: string): JsonObject => ({ thoughtSignature });

export const signatureOfText = (thoughtSignature: string, text: string): JsonObject => ({
  thoughtSignature,
  length: text.length,
});

/** The text of a thought is not part of the completion, so it is stored here. */
export const signedThought = (thoughtSignature: string, text: string): JsonObject => ({
  text: text.toWellFormed(),
  thought: true,
  thoughtSignature,
});

export const readSigned = (item: JsonObject): Signed | undefined => {
  const kept = keptPart(item);
  if (kept) return { on: 'part', part: kept };
  const signature = textOf(item.thoughtSignature);
  if (signature === undefined) return undefined;
  if (item.thought === true) return { on: 'part', part: item };
  const length = countOf(item.length);
  return length === undefined ? { on: 'call', signature } : { on: 'text', signature, length };
};
