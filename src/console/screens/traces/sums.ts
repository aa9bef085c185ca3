import { quantileSorted } from 'd3-array';
import { type TracedRun, tookOf } from '../../trace/traces.ts';

/** So many of them, and whether there are others: one more than that was asked for. */
export const newestOf = (
  runs: readonly TracedRun[],
  most: number,
): { runs: readonly TracedRun[]; hasMore: boolean } =>
  runs.length > most ? { runs: runs.slice(0, most), hasMore: true } : { runs, hasMore: false };

/** What traces say together. Times are milliseconds; undefined where none of them has ended. */
export type Sums = {
  count: number;
  failedShare: number;
  half: number | undefined;
  most: number | undefined;
};

export const sumsOf = (runs: readonly TracedRun[]): Sums => {
  const times = runs.flatMap((run) => tookOf(run) ?? []).sort((a, b) => a - b);
  const failed = runs.filter(({ final_status }) => final_status === 'error').length;
  return {
    count: runs.length,
    failedShare: runs.length === 0 ? 0 : failed / runs.length,
    half: quantileSorted(times, 0.5),
    most: quantileSorted(times, 0.95),
  };
};
