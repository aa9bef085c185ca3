import { createHistogram } from 'node:perf_hooks';

/** Milliseconds with three significant digits. All are 0 if nothing was recorded. */
export type Quantiles = { count: number; p50: number; p90: number; p99: number; max: number };

export type Bucket = { from_ms: number; to_ms: number; count: number };

export type Distribution = {
  record(ms: number): void;
  quantiles(): Quantiles;
  /** From the first to the last non-empty bucket; each is twice as wide as the previous one. */
  buckets(): Bucket[];
};

const MICROSECONDS = 1000;
const DAY_IN_MICROSECONDS = 86_400_000_000;

export const createDistribution = (): Distribution => {
  const histogram = createHistogram({ lowest: 1, highest: DAY_IN_MICROSECONDS, figures: 3 });
  const doublings = new Map<number, number>();

  const at = (percentile: number): number => histogram.percentile(percentile) / MICROSECONDS;

  return {
    record(ms) {
      const value = Math.min(DAY_IN_MICROSECONDS, Math.max(1, Math.round(ms * MICROSECONDS)));
      histogram.record(value);
      const doubling = Math.floor(Math.log2(value));
      doublings.set(doubling, (doublings.get(doubling) ?? 0) + 1);
    },
    quantiles: () =>
      histogram.count === 0
        ? { count: 0, p50: 0, p90: 0, p99: 0, max: 0 }
        : {
            count: histogram.count,
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: histogram.max / MICROSECONDS,
          },
    buckets() {
      const filled = [...doublings.keys()].sort((a, b) => a - b);
      const [lowest = 0] = filled;
      const highest = filled.at(-1) ?? -1;
      return Array.from({ length: highest - lowest + 1 }, (_, index) => {
        const doubling = lowest + index;
        return {
          from_ms: 2 ** doubling / MICROSECONDS,
          to_ms: 2 ** (doubling + 1) / MICROSECONDS,
          count: doublings.get(doubling) ?? 0,
        };
      });
    },
  };
};
