import { BOUNDS } from '../bounds.ts';
import { ModelError } from '../errors.ts';

/**
 * The bytes of a body that a decoder has counted, and those that it keeps until the rest of their line or frame arrives.
 *
 * Guarantees: no body exceeds `BOUNDS.streamBytes`. Cost: the buffer grows by doubling, so the cost of a long line or
 * frame in small chunks stays proportional to its length.
 */
export type BodyBytes = {
  /** Its first `keptBytes` bytes are those of an unfinished line or frame. */
  kept: Buffer;
  keptBytes: number;
  /** Bytes of the body so far. */
  answerBytes: number;
};

export const NOTHING = Buffer.alloc(0);

/** @throws ModelError beyond the limit of a body */
export const countChunk = (body: BodyBytes, chunk: Buffer): void => {
  body.answerBytes += chunk.length;
  if (body.answerBytes > BOUNDS.streamBytes) throw tooLong('the response', BOUNDS.streamBytes);
};

export const keep = (body: BodyBytes, chunk: Buffer, start: number, end: number): void => {
  const bytes = body.keptBytes + end - start;
  if (bytes > body.kept.length) {
    const longer = Buffer.allocUnsafeSlow(Math.max(1024, 2 * bytes));
    body.kept.copy(longer, 0, 0, body.keptBytes);
    body.kept = longer;
  }
  chunk.copy(body.kept, body.keptBytes, start, end);
  body.keptBytes = bytes;
};

export const tooLongEvent = (): ModelError => tooLong('an event of the response', BOUNDS.frameBytes);

const tooLong = (subject: string, most: number): ModelError =>
  new ModelError('provider', `${subject} has more than ${most} bytes`, { final: true });
