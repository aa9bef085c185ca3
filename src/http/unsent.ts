import type { ReplyText } from './reply.ts';

/**
 * Bodies that are too long for one write, and how much of them waits for slow readers.
 *
 * Guarantees: a socket is handed one piece at a time, the next one when it has taken the one before. The rests of all
 * bodies of a server share a bound: past it, the connections whose readers have taken nothing for the longest time
 * are closed, so any number of clients that do not read costs a bounded amount of memory, and a client that reads is
 * the last to be affected.
 * Costs one entry for each long body under way; short bodies never come here.
 */
export type Unsent = {
  /** Adds a body. It counts until its reader has taken all of it or it is removed. */
  add(body: LongBody): void;
  /**
   * The next piece, once the socket has taken the one before. The last piece ends the body.
   * @throws whatever the maker of the body throws
   */
  next(body: LongBody): { piece: Uint8Array; isLast: boolean };
  remove(body: LongBody): void;
};

export type LongBody = {
  rest: Uint8Array;
  /** What comes behind the rest, where it is made while it is sent. */
  more: Iterator<string> | undefined;
  /** Bytes of the piece that the socket has; 0 before the first one. */
  taken: number;
  /** Closes the connection. */
  cutOff(): void;
};

/** A body of more than this is written in pieces of this size. */
export const PIECE_BYTES = 256 * 1024;

export const createUnsent = ({
  limit,
  observe,
}: {
  limit: number;
  observe: (delta: number) => void;
}): Unsent => {
  /** The reader that has taken nothing for the longest time comes first. */
  const bodies = new Set<LongBody>();
  let bytes = 0;

  const count = (delta: number): void => {
    bytes += delta;
    observe(delta);
  };

  const remove = (body: LongBody): void => {
    if (bodies.delete(body)) count(-(body.rest.byteLength + body.taken));
  };

  const gather = (body: LongBody, more: Iterator<string>): void => {
    const { text, more: left } = gathered(more);
    const before = body.rest.byteLength;
    body.rest = Buffer.concat([body.rest, Buffer.from(text)]);
    body.more = left;
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
      const piece = body.rest.subarray(0, PIECE_BYTES);
      count(-body.taken);
      body.rest = body.rest.subarray(piece.byteLength);
      body.taken = piece.byteLength;
      // A reader that takes something goes to the end of the order.
      bodies.delete(body);
      bodies.add(body);
      return { piece, isLast: body.rest.byteLength === 0 && !body.more };
    },
    remove,
  };
};

/** The beginning of a text, of more than a piece if there is as much, and what makes the rest. */
export const beginningOf = (
  text: ReplyText,
): { text: string | Uint8Array; more: Iterator<string> | undefined } =>
  typeof text === 'object' && 'pieces' in text ? gathered(text.pieces) : { text, more: undefined };

const gathered = (pieces: Iterator<string>): { text: string; more: Iterator<string> | undefined } => {
  let text = '';
  while (text.length <= PIECE_BYTES) {
    const { done, value } = pieces.next();
    if (done) return { text, more: undefined };
    text += value;
  }
  return { text, more: pieces };
};
