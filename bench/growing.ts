import { median } from './rounds.ts';

/**
 * Decides whether a figure that was read repeatedly on an idle system grows without bound.
 *
 * The first third of the readings is dropped: caches fill, and code is compiled. A line is fitted to the rest with the
 * median of the slopes between all pairs, so that a single outlier has no effect. The figure grows if the line rises by
 * more than the allowance from start to end, and the last third is above all earlier readings: a stable figure goes up
 * and down.
 */
export type Reading = { hours: number; value: number };

export type Growth = { perHour: number; from: number; to: number; grows: boolean };

/** Allowed rise over the readings: a share of the level, and the usual fluctuation. */
export type Allowance = { share: number; least: number };

const LEAST_READINGS = 9;

export const measureGrowth = (readings: readonly Reading[], { share, least }: Allowance): Growth => {
  const settled = readings.slice(Math.floor(readings.length / 3));
  const [first, last] = [settled[0], settled.at(-1)];
  if (!first || !last) return { perHour: Number.NaN, from: Number.NaN, to: Number.NaN, grows: false };
  const perHour = medianSlope(settled);
  const rise = perHour * (last.hours - first.hours);
  const level = median(settled.map(({ value }) => value));
  const cut = Math.ceil((settled.length * 2) / 3);
  const [early, late] = [settled.slice(0, cut), settled.slice(cut)].map((part) =>
    part.map(({ value }) => value),
  );
  const above = Math.min(...(late ?? [])) > Math.max(...(early ?? []));
  const enough = readings.length >= LEAST_READINGS;
  return {
    perHour,
    from: first.value,
    to: last.value,
    grows: enough && above && rise > Math.max(least, level * share),
  };
};

/** The Theil–Sen estimator. */
const medianSlope = (readings: readonly Reading[]): number => {
  const slopes: number[] = [];
  for (const [index, a] of readings.entries()) {
    for (const b of readings.slice(index + 1)) slopes.push((b.value - a.value) / (b.hours - a.hours));
  }
  return slopes.length === 0 ? Number.NaN : median(slopes);
};
