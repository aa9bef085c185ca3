/**
 * Work that takes long, each piece in a turn of the loop of its own: between two of them streams are written to and
 * other requests are answered, however many of them come at once.
 *
 * Guarantees: one piece a turn, in the order in which they came. A piece must not throw: what it does is somebody's
 * request, and the answer is its own affair.
 */
const waiting: (() => void)[] = [];

export const inOwnTurn = (work: () => void): void => {
  waiting.push(work);
  if (waiting.length === 1) setImmediate(next);
};

const next = (): void => {
  const [work] = waiting;
  try {
    work?.();
  } finally {
    waiting.shift();
    if (waiting.length > 0) setImmediate(next);
  }
};

/** Resolves in a dedicated tick of the event loop, for work that continues after what it has done in this one. */
export const ownTurn = (): Promise<void> => new Promise(inOwnTurn);
