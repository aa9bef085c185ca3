import { type Clock, monotonic } from '../../schema/clock.ts';

/** Reports the progress of a call at most ten times a second; updates in between are merged into the next report. */

const LEAST_MS = 100;

export type Progress = {
  advance(done: number, text: string): void;
  /** Reports a merged update that is still pending. */
  flush(): void;
};

export const createProgress = (
  clock: Clock,
  report: ((progress: number, message: string) => void) | undefined,
): Progress => {
  let reportedAt = Number.NEGATIVE_INFINITY;
  let kept: [done: number, text: string] | undefined;
  return {
    advance(done, text) {
      if (!report) return;
      const now = monotonic(clock);
      kept = [done, text];
      if (now - reportedAt < LEAST_MS) return;
      reportedAt = now;
      kept = undefined;
      report(done, text);
    },
    flush() {
      if (kept) report?.(...kept);
      kept = undefined;
    },
  };
};
