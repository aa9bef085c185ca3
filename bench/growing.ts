import { median } from './rounds.ts';

/**
 * Whether a figure that was read again and again, each time at rest, grows without bound.
 *
 * The first third of the readings is left out: caches fill, code is compiled. Of the rest a line is drawn by the
 * slopes between all pairs (their median, so that a single odd reading says nothing). It grows when the line rises by
 * more than the allowance from its beginning to its end, and the last third lies above all that came before it: what
 * has found its level goes up and down.
 */
export type Reading = { hours: number; value: number };

export type Growth = { perHour: number; from: number; to: number; grows: boolean };

/** What a figure may rise by over the readings: a share of its level, and as much as it moves by anyway. */
export type Allowance = { share: number; least: number };

const LEAST_READINGS = 9;

export const growthOf = (readings: readonly Reading[], { share, least }: Allowance): Growth => {
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

/** Theil and Sen. */
const medianSlope = (readings: readonly Reading[]): number => {
  const slopes: number[] = [];
  for (const [index, a] of readings.entries()) {
    for (const b of readings.slice(index + 1)) slopes.push((b.value - a.value) / (b.hours - a.hours));
  }
  return slopes.length === 0 ? Number.NaN : median(slopes);
};
