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
  /** The next piece, once the socket has taken the one before. The last piece ends the body. */
  next(body: LongBody): { piece: Uint8Array; isLast: boolean };
  remove(body: LongBody): void;
};

export type LongBody = {
  rest: Uint8Array;
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
      const piece = body.rest.subarray(0, PIECE_BYTES);
      count(-body.taken);
      body.rest = body.rest.subarray(piece.byteLength);
      body.taken = piece.byteLength;
      // A reader that takes something goes to the end of the order.
      bodies.delete(body);
      bodies.add(body);
      return { piece, isLast: body.rest.byteLength === 0 };
    },
    remove,
  };
};
