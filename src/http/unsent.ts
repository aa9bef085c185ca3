import type { ReplyText } from './reply.ts';

/**
 * Manages bodies that are too long for one write, and the unsent bytes of slow readers.
 *
 * Guarantees: a socket receives one chunk at a time, each after it has taken the previous one. The unsent rests of all
 * bodies of a server share a bound. Beyond it, the connections whose readers have taken nothing for the longest time
 * are closed: any number of stalled clients costs a bounded amount of memory, and an active reader is affected last.
 * Cost: one entry per long body in progress; short bodies are not tracked.
 */
export type Unsent = {
  /** Adds a body. It counts until its reader has taken all of it or it is removed. */
  add(body: LongBody): void;
  /**
   * Returns the next chunk, once the socket has taken the previous one. The last chunk ends the body.
   * @throws any error of the generator of the body
   */
  next(body: LongBody): { chunk: Uint8Array; isLast: boolean };
  remove(body: LongBody): void;
};

export type LongBody = {
  rest: Uint8Array;
  /** Generates the text after the rest while it is sent. */
  more: Rest;
  /** Bytes of the chunk that the socket has; 0 before the first one. */
  taken: number;
  cutOff(): void;
};

/** The chunks after the beginning of a body. */
export type Rest = Iterator<string | Uint8Array> | undefined;

/** Longer bodies are written in chunks of this size. */
export const PIECE_BYTES = 256 * 1024;

export const createUnsent = ({
  limit,
  observe,
}: {
  limit: number;
  observe: (delta: number) => void;
}): Unsent => {
  /** Ordered by the time of the last progress, oldest first. */
  const bodies = new Set<LongBody>();
  let bytes = 0;

  const count = (delta: number): void => {
    bytes += delta;
    observe(delta);
  };

  const remove = (body: LongBody): void => {
    if (!bodies.delete(body)) return;
    count(-(body.rest.byteLength + body.taken));
    body.more?.return?.();
  };

  const gather = (body: LongBody, more: NonNullable<Rest>): void => {
    const { text, more: remaining } = gathered(more);
    const before = body.rest.byteLength;
    body.rest = Buffer.concat([body.rest, typeof text === 'string' ? Buffer.from(text) : text]);
    body.more = remaining;
    count(body.rest.byteLength - before);
  };

  return {
    add(body) {
      bodies.add(body);
      count(body.rest.byteLength);
      for (const longest of bodies) {
        if (bytes <= limit || longest === body) break;
        remove(longest);
        longest.cutOff();
      }
    },
    next(body) {
      if (body.rest.byteLength <= PIECE_BYTES && body.more) gather(body, body.more);
      const chunk = body.rest.subarray(0, PIECE_BYTES);
      count(-body.taken);
      body.rest = body.rest.subarray(chunk.byteLength);
      body.taken = chunk.byteLength;
      // A reader that makes progress moves to the end of the order.
      bodies.delete(body);
      bodies.add(body);
      return { chunk, isLast: body.rest.byteLength === 0 && !body.more };
    },
    remove,
  };
};

/** Returns the beginning of a text, longer than one chunk if the text is, and the generator of the rest. */
export const takeBeginning = (text: ReplyText): { text: string | Uint8Array; more: Rest } =>
  typeof text === 'object' && 'pieces' in text ? gathered(text.pieces) : { text, more: undefined };

const gathered = (pieces: NonNullable<Rest>): { text: string | Uint8Array; more: Rest } => {
  let text = '';
  while (text.length <= PIECE_BYTES) {
    const { done, value } = pieces.next();
    if (done) return { text, more: undefined };
    if (typeof value !== 'string') return gatheredBytes([Buffer.from(text), value], pieces);
    text += value;
  }
  return { text, more: pieces };
};

const gatheredBytes = (chunks: Uint8Array[], pieces: NonNullable<Rest>): { text: Uint8Array; more: Rest } => {
  let bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  while (bytes <= PIECE_BYTES) {
    const { done, value } = pieces.next();
    if (done) return { text: Buffer.concat(chunks), more: undefined };
    chunks.push(Buffer.from(value));
    bytes += value.length;
  }
  return { text: Buffer.concat(chunks), more: pieces };
};
