import type { JsonObject } from '../../schema/json.ts';
import { keptPart } from './gemini-built-in-tools.ts';
import { countOf, textOf } from './read.ts';

/**
 * Thought signatures as they are kept with an answer. A signature belongs to one part; a call or a text with it comes
 * back as it was, and is not joined with a part that has none.
 */

type Signed =
  | { on: 'call'; signature: string }
  /** `length`: how many characters of the text that follows were in the part. */
  | { on: 'text'; signature: string; length: number }
  /** A thought, or a call that Gemini has executed. */
  | { on: 'part'; part: JsonObject };

export const signatureOfCall = (thoughtSignature: string): JsonObject => ({ thoughtSignature });

export const signatureOfText = (thoughtSignature: string, text: string): JsonObject => ({
  thoughtSignature,
  length: text.length,
});

/** The text of a thought is no part of the answer, so it is kept here. */
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
