import type { HttpResponse } from 'uWebSockets.js';
import { isUtf8 } from 'node:buffer';
import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { Invalid } from '../schema/outcome.ts';

/** Reading a request body into text, and no more of it than is allowed. */

export const TOO_LARGE = Symbol('larger than the limit');
export const NOT_TEXT = Symbol('not UTF-8');

export type BodyText = string | typeof TOO_LARGE | typeof NOT_TEXT;

/**
 * Calls `done` once, when the body is there or has become too large; never when the client goes away before.
 * What comes after a body that is too large is let through and dropped, so that the client can read the answer.
 */
export const readBody = (res: HttpResponse, limit: number, done: (text: BodyText) => void): void => {
  let chunks: Buffer[] = [];
  let size = 0;
  let settled = false;
  res.onData((chunk, isLast) => {
    if (settled) return;
    size += chunk.byteLength;
    if (size > limit) {
      settled = true;
      chunks = [];
      done(TOO_LARGE);
    } else if (isLast) {
      settled = true;
      const last = Buffer.from(chunk);
      const bytes = chunks.length === 0 ? last : Buffer.concat([...chunks, last]);
      done(isUtf8(bytes) ? bytes.toString() : NOT_TEXT);
    } else {
      // uWebSockets.js takes the memory of the chunk back when this function returns.
      chunks.push(Buffer.from(new Uint8Array(chunk)));
    }
  });
};

const JSON_CONTENT = /^\s*(?:application\/json|[\w.!#$&^+-]+\/[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** `application/json` or any `+json` type, with or without parameters. */
export const isJson = (contentType: string): boolean =>
  contentType === 'application/json' || JSON_CONTENT.test(contentType);

/** @throws Invalid */
export const parseJson = (text: string): unknown => {
  const value = parsed(text);
  // Every level takes two characters at least.
  if (text.length > DEEPEST * 2 && isTooDeep(value)) {
    throw new Invalid(`request body nests deeper than ${DEEPEST} levels`);
  }
  return value;
};

/** @throws Invalid */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Invalid(`request body is not valid JSON: ${reason}`);
  }
};
