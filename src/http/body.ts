import { isUtf8 } from 'node:buffer';
import { inexactInteger, inexactText } from '../schema/exact-integers.ts';
import { scanJson, startScan } from '../schema/nesting.ts';
import { Invalid } from '../schema/outcome.ts';
import type { BodyPlace, BodyRoom } from './body-room.ts';
import { Refusal } from './errors.ts';
import { type Decoding, decodeNext, endDecoding, startDecoding } from './utf8.ts';
import type { WireResponse } from './wire.ts';

/**
 * Reading a request body into text, and no more of it than is allowed: so many bytes, so many values, so deep.
 *
 * Guarantees: what would cost more than its bytes is refused while it comes, before anything is built of it. The look
 * at the bytes, and their decoding, is done piece by piece, in the turns in which they come.
 */
export type BodyText = string | Refusal;

/** What a body is read for. */
export type Reading = {
  limit: number;
  room: BodyRoom;
  /** The request has its answer already. */
  isOver(): boolean;
  /** Called when the client disconnects; undefined once the body is complete. */
  onGone(listener: (() => void) | undefined): void;
};

/**
 * Calls `done` once, when the body is there or has turned out to be too much; never when the client goes away before.
 * What comes after a refusal is let through and dropped, so that the client can read the answer.
 */
export const readBody = (
  res: WireResponse,
  { limit, room, isOver, onGone }: Reading,
  done: (text: BodyText) => void,
): void => {
  const scan = startScan();
  let decoding: Decoding | undefined;
  let place: BodyPlace | undefined;
  let size = 0;
  let settled = false;

  const drop = (): void => {
    settled = true;
    decoding = undefined;
    place?.close();
  };

  const settle = (text: BodyText): void => {
    if (place) onGone(undefined);
    drop();
    done(text);
  };

  /** Of a body that comes in more than one piece. */
  const takePlace = (): BodyPlace => {
    onGone(drop);
    return room.open(settle);
  };

  res.onData((chunk, isLast) => {
    if (settled) return;
    if (place && isOver()) {
      drop();
      return;
    }
    if (!isLast) place ??= takePlace();
    const refusal = place?.grow(chunk.byteLength);
    if (refusal) {
      settle(refusal);
      return;
    }
    size += chunk.byteLength;
    const bytes = new Uint8Array(chunk);
    const excess = size > limit ? undefined : scanJson(scan, bytes);
    if (size > limit) settle(tooLarge(limit));
    else if (excess !== undefined) settle(new Refusal(400, `request body ${excess}`));
    else if (isLast && !decoding) settle(textOf(Buffer.from(chunk)) ?? NOT_UTF8);
    else {
      decoding ??= startDecoding();
      if (!decodeNext(decoding, bytes)) settle(NOT_UTF8);
      else if (isLast) settle(endDecoding(decoding) ?? NOT_UTF8);
    }
  });
};

const textOf = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined);

const NOT_UTF8 = new Refusal(400, 'request body is not UTF-8');

export const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `request body is larger than ${limit} bytes`);

const JSON_CONTENT = /^\s*(?:application\/json|[\w.!#$&^+-]+\/[\w.!#$&^+-]+\+json)\s*(?:;|$)/i;

/** `application/json` or any `+json` type, with or without parameters. */
export const isJson = (contentType: string): boolean =>
  contentType === 'application/json' || JSON_CONTENT.test(contentType);

/** @throws Invalid */
export const parseJson = (text: string): unknown => {
  const value = parsed(text);
  const inexact = inexactInteger(text);
  if (inexact !== undefined) throw new Invalid(`request body: ${inexactText(inexact)}`);
  return value;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Invalid(`request body is not valid JSON: ${reason}`);
  }
};
