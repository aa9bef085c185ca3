/**
 * Splits long work across event-loop ticks: between two chunks, streams are written and other requests are processed,
 * regardless of the number of requests.
 *
 * Guarantees: one chunk per tick, in the order of the calls. A chunk must not throw: it has to report errors to its own
 * caller.
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

/** Resolves in a dedicated tick of the event loop, for work that continues after a chunk. */
export const ownTurn = (): Promise<void> => new Promise(inOwnTurn);
