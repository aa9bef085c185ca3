import type { HttpResponse } from 'uWebSockets.js';
import { isUtf8 } from 'node:buffer';
import { scanJson, startScan } from '../schema/nesting.ts';
import { Invalid } from '../schema/outcome.ts';
import { Refusal } from './errors.ts';

/**
 * Reading a request body into text, and no more of it than is allowed: so many bytes, so many values, so deep.
 *
 * Guarantees: what would cost more than its bytes is refused while it comes, before anything is built of it. The look
 * at the bytes is done piece by piece, in the turns in which they come.
 */
export type BodyText = string | Refusal;

/**
 * Calls `done` once, when the body is there or has turned out to be too much; never when the client goes away before.
 * What comes after a refusal is let through and dropped, so that the client can read the answer.
 */
export const readBody = (res: HttpResponse, limit: number, done: (text: BodyText) => void): void => {
  const scan = startScan();
  let held: Held | undefined;
  let size = 0;
  let settled = false;

  const settle = (text: BodyText): void => {
    settled = true;
    held = undefined;
    done(text);
  };

  res.onData((chunk, isLast) => {
    if (settled) return;
    size += chunk.byteLength;
    const bytes = new Uint8Array(chunk);
    const excess = size > limit ? undefined : scanJson(scan, bytes);
    if (size > limit) settle(tooLarge(limit));
    else if (excess !== undefined) settle(new Refusal(400, `request body ${excess}`));
    else if (!isLast) held = hold(held, bytes);
    else settle(textOf(held ? taken(hold(held, bytes)) : Buffer.from(chunk)));
  });
};

/** A buffer that doubles: a body may come byte by byte, and an object for each would be a hundred times its size. */
type Held = { buffer: Buffer; length: number };

/** uWebSockets.js takes the memory of a piece back when its callback returns, so it is copied. */
const hold = (held: Held | undefined, bytes: Uint8Array): Held => {
  const { buffer, length } = held ?? { buffer: Buffer.alloc(0), length: 0 };
  const needed = length + bytes.byteLength;
  const room = needed <= buffer.length ? buffer : Buffer.allocUnsafe(Math.max(needed, buffer.length * 2));
  if (room !== buffer) buffer.copy(room, 0, 0, length);
  room.set(bytes, length);
  return { buffer: room, length: needed };
};

const taken = ({ buffer, length }: Held): Buffer => buffer.subarray(0, length);

const textOf = (bytes: Buffer): BodyText => (isUtf8(bytes) ? bytes.toString() : NOT_UTF8);

const NOT_UTF8 = new Refusal(400, 'request body is not UTF-8');

export const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `request body is larger than ${limit} bytes`);

const JSON_CONTENT = /^\s*(?:application\/json|[\w.!#$&^+-]+\/[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** `application/json` or any `+json` type, with or without parameters. */
export const isJson = (contentType: string): boolean =>
  contentType === 'application/json' || JSON_CONTENT.test(contentType);

/** @throws Invalid */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Invalid(`request body is not valid JSON: ${reason}`);
  }
};
