import { isUtf8 } from 'node:buffer';
import { inexactInteger, inexactText } from '../schema/exact-integers.ts';
import { type JsonScan, scanJson, startScan } from '../schema/nesting.ts';
import { Invalid } from '../schema/outcome.ts';
import type { BodyBudget, BodyReservation } from './body-budget.ts';
import { Refusal } from './errors.ts';
import { type Decoding, decodeNext, endDecoding, startDecoding } from './utf8.ts';
import type { WireResponse } from './wire.ts';

/**
 * Reads a request body as text, within limits of bytes, values and nesting depth.
 *
 * Guarantees: a body that exceeds a limit is rejected while it arrives, before it is parsed. Each chunk is scanned and
 * decoded in the event-loop tick in which it arrives.
 */
export type BodyText = string | Refusal;

export type Reading = {
  limit: number;
  bodyBudget: BodyBudget;
  /** Whether the response has been sent already. */
  isOver(): boolean;
  /** Called when the client disconnects; undefined once the body is complete. */
  onGone(listener: (() => void) | undefined): void;
};

/**
 * Calls `done` once, when the body is complete or exceeds a limit; never when the client disconnects first. Data after
 * a refusal is read and discarded, so that the client can read the response.
 */
export const readBody = (res: WireResponse, reading: Reading, done: (text: BodyText) => void): void => {
  const body: Body = {
    reading,
    done,
    scan: startScan(),
    decoding: undefined,
    place: undefined,
    size: 0,
    isSettled: false,
  };
  res.onData((chunk, isLast) => take(body, chunk, isLast));
};

type Body = {
  readonly reading: Reading;
  readonly done: (text: BodyText) => void;
  readonly scan: JsonScan;
  /** Set once the first chunk of several was decoded. */
  decoding: Decoding | undefined;
  /** Set for a body of more than one chunk. */
  place: BodyReservation | undefined;
  size: number;
  isSettled: boolean;
};

const take = (body: Body, chunk: ArrayBuffer, isLast: boolean): void => {
  if (body.isSettled) return;
  if (body.place && body.reading.isOver()) {
    drop(body);
    return;
  }
  if (!isLast) body.place ??= openReservation(body);
  const bytes = new Uint8Array(chunk);
  const text = check(body, bytes) ?? decodeChunk(body, bytes, isLast);
  if (text !== undefined) settle(body, text);
};

/** Returns a refusal when the body exceeds a limit with this chunk. */
const check = (body: Body, bytes: Uint8Array): Refusal | undefined => {
  const refusal = body.place?.grow(bytes.byteLength);
  if (refusal) return refusal;
  const { limit } = body.reading;
  body.size += bytes.byteLength;
  if (body.size > limit) return tooLarge(limit);
  const excess = scanJson(body.scan, bytes);
  return excess === undefined ? undefined : new Refusal(400, `request body ${excess}`);
};

/** Returns the text of the body with its last chunk, and a refusal when the bytes are no text. */
const decodeChunk = (body: Body, bytes: Uint8Array, isLast: boolean): BodyText | undefined => {
  if (isLast && !body.decoding) return textOf(bytes) ?? NOT_UTF8;
  body.decoding ??= startDecoding();
  if (!decodeNext(body.decoding, bytes)) return NOT_UTF8;
  return isLast ? (endDecoding(body.decoding) ?? NOT_UTF8) : undefined;
};

const openReservation = (body: Body): BodyReservation => {
  body.reading.onGone(() => drop(body));
  return body.reading.bodyBudget.open((refusal) => settle(body, refusal));
};

const settle = (body: Body, text: BodyText): void => {
  if (body.place) body.reading.onGone(undefined);
  drop(body);
  body.done(text);
};

const drop = (body: Body): void => {
  body.isSettled = true;
  body.decoding = undefined;
  body.place?.close();
};

const textOf = (bytes: Uint8Array): string | undefined =>
  isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() : undefined;

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
