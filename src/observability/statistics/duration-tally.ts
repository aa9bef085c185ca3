import type { DurationBucket } from '../../schema/runtime-stats.ts';
import type { StoredTally } from '../../store/index.ts';

/**
 * Durations of one kind in one time bucket.
 *
 * Guarantees: count, total, minimum, maximum and histogram are exact; so are percentiles up to 1024 durations. Past
 * that every second duration is kept, then every fourth, and so on, each with the corresponding weight: evenly over
 * time, without randomness. A histogram of Node is unsuitable: its percentiles use another rank than the contract's (50
 * instead of 51 for 1..100), and one histogram takes more memory than all samples of a bucket.
 * Cost: O(1) per duration (amortized) and at most 4.3 KB.
 */
export type DurationTally = {
  count: number;
  total: number;
  min: number;
  max: number;
  /** One count per bound, and a last one for durations above all bounds. */
  readonly histogram: number[];
  samples: Uint32Array;
  kept: number;
  /** Number of durations that each sample represents. */
  stride: number;
};

const BOUNDS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;
const MOST_SAMPLES = 1024;
const FIRST_SAMPLES = 8;
/** 49 days, the maximum of a sample. */
const LONGEST_MS = 2 ** 32 - 1;

export const createTally = (): DurationTally => ({
  count: 0,
  total: 0,
  min: LONGEST_MS,
  max: 0,
  histogram: new Array<number>(BOUNDS.length + 1).fill(0),
  samples: new Uint32Array(FIRST_SAMPLES),
  kept: 0,
  stride: 1,
});

/** A clock may step back and a time may be missing; neither may fail the measured operation. */
const wholeMs = (ms: number): number => Math.min(Math.max(0, Math.round(ms || 0)), LONGEST_MS);

export const addDuration = (tally: DurationTally, given: number): void => {
  const ms = wholeMs(given);
  const bound = BOUNDS.findIndex((each) => ms <= each);
  const column = bound < 0 ? BOUNDS.length : bound;
  tally.histogram[column] = (tally.histogram[column] ?? 0) + 1;
  keepSample(tally, ms);
  tally.count += 1;
  tally.total += ms;
  tally.min = Math.min(tally.min, ms);
  tally.max = Math.max(tally.max, ms);
};

const keepSample = (tally: DurationTally, ms: number): void => {
  if (tally.count % tally.stride !== 0) return;
  if (tally.kept === MOST_SAMPLES) {
    tally.kept = MOST_SAMPLES / 2;
    for (let index = 1; index < tally.kept; index += 1) {
      tally.samples[index] = tally.samples[2 * index] ?? 0;
    }
    tally.stride *= 2;
  }
  if (tally.kept === tally.samples.length) {
    const wider = new Uint32Array(2 * tally.kept);
    wider.set(tally.samples);
    tally.samples = wider;
  }
  tally.samples[tally.kept] = ms;
  tally.kept += 1;
};

/** Returns the tally in its persisted form. */
export const keptTally = ({
  count,
  total,
  min,
  max,
  stride,
  histogram,
  samples,
  kept,
}: DurationTally): StoredTally => ({
  count,
  total,
  min,
  max,
  stride,
  histogram: [...histogram],
  samples: [...samples.subarray(0, kept)],
});

export const restoredTally = ({ samples, histogram, ...kept }: StoredTally): DurationTally => {
  const room = new Uint32Array(Math.max(FIRST_SAMPLES, 2 ** Math.ceil(Math.log2(samples.length || 1))));
  room.set(samples);
  return { ...kept, histogram: [...histogram], samples: room, kept: samples.length };
};

export type DurationSummary = {
  count: number;
  total: number;
  avg: number;
  min: number;
  max: number;
  p50: number;
  p95: number;
  p99: number;
  histogram: DurationBucket[];
};

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Summarizes all tallies together; zeros and an empty histogram without any duration. */
export const summarize = (tallies: readonly DurationTally[]): DurationSummary => {
  const count = sum(tallies.map((tally) => tally.count));
  if (count === 0) return { count, total: 0, avg: 0, min: 0, max: 0, p50: 0, p95: 0, p99: 0, histogram: [] };
  const total = sum(tallies.map((tally) => tally.total));
  const [p50 = 0, p95 = 0, p99 = 0] = percentiles(tallies, [50, 95, 99]);
  return {
    count,
    total,
    avg: total / count,
    min: Math.min(...tallies.map((tally) => tally.min)),
    max: Math.max(...tallies.map((tally) => tally.max)),
    p50,
    p95,
    p99,
    histogram: [...BOUNDS, null].map((upper_bound_ms, column) => ({
      upper_bound_ms,
      count: sum(tallies.map(({ histogram }) => histogram[column] ?? 0)),
    })),
  };
};

/** Returns, for n sorted durations, the one at `floor((n - 1) · p / 100 + 0.5)`. */
const percentiles = (tallies: readonly DurationTally[], wanted: readonly number[]): number[] => {
  const weights = new Map<number, number>();
  for (const { samples, kept, stride } of tallies) {
    for (const ms of samples.subarray(0, kept)) weights.set(ms, (weights.get(ms) ?? 0) + stride);
  }
  const sorted = [...weights].sort(([a], [b]) => a - b);
  const n = sum(sorted.map(([, weight]) => weight));
  return wanted.map((p) => {
    let left = Math.floor(((n - 1) * p) / 100 + 0.5);
    for (const [ms, weight] of sorted) {
      if (left < weight) return ms;
      left -= weight;
    }
    return 0;
  });
};
