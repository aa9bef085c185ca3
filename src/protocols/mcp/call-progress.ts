import { type Clock, monotonic } from '../../schema/clock.ts';

/** Progress of a call, at most ten times a second: what came in between is told together with what follows. */

const LEAST_MS = 100;

export type Progress = {
  advance(done: number, text: string): void;
  /** What was kept back is told. */
  flush(): void;
};

export const createProgress = (
  clock: Clock,
  tell: ((progress: number, message: string) => void) | undefined,
): Progress => {
  let toldAt = Number.NEGATIVE_INFINITY;
  let kept: [done: number, text: string] | undefined;
  return {
    advance(done, text) {
      if (!tell) return;
      const now = monotonic(clock);
      kept = [done, text];
      if (now - toldAt < LEAST_MS) return;
      toldAt = now;
      kept = undefined;
      tell(done, text);
    },
    flush() {
      if (kept) tell?.(...kept);
      kept = undefined;
    },
  };
};
