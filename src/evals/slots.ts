/** Limits the number of concurrent cells in this process across all runs, in FIFO order. */
export type Slots = {
  /** Resolves with a function that releases the slot, or with undefined if the signal fires first. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
};

export const createSlots = (most: number): Slots => {
  let free = most;
  const waiting = new Set<() => void>();

  const leave = (): void => {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };

  /** Only the first call has an effect. */
  const place = (): (() => void) => {
    let isTaken = true;
    return () => {
      if (isTaken) leave();
      isTaken = false;
    };
  };

  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(place());
      }
      return new Promise((resolve) => {
        const enter = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve(place());
        };
        const giveUp = (): void => {
          waiting.delete(enter);
          resolve(undefined);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(enter);
      });
    },
  };
};
