import type { Resource } from '../data/queries.ts';

/** The time range of a page, as its address contains it: `24h`, or `<from>-<to>` in seconds since the epoch. */

export const PRESETS = ['1h', '24h', '7d', '30d'] as const;

export const DAY_SECONDS = 86_400;

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY_SECONDS };

export type Range = {
  /** As in the address. */
  text: string;
  seconds: number;
  /** Seconds since the epoch; undefined for a range that ends now. */
  until: number | undefined;
};

export const secondsOf = (preset: string): number => {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(preset) ?? [];
  return Number(digits) * (UNITS[unit] ?? 0);
};

export const USUAL: Range = { text: '24h', seconds: DAY_SECONDS, until: undefined };

export const rangeOf = (text: string | undefined): Range => {
  if (text === undefined) return USUAL;
  const [, from, to] = /^(\d{9,11})-(\d{9,11})$/.exec(text) ?? [];
  const length = Number(to) - Number(from);
  if (length > 0) return { text, seconds: length, until: Number(to) };
  const seconds = secondsOf(text);
  return seconds > 0 ? { text, seconds, until: undefined } : USUAL;
};

/** The range between two times in seconds. */
export const between = (from: number, to: number): string => `${from}-${to}`;

/** `Nov 23, 20:00 – 21:00`, with the second day only if it differs. */
export const spanText = (
  tick: (at: number, kind: 'time' | 'day') => string,
  from: number,
  to: number,
): string => {
  const [first, last] = [tick(from, 'day'), tick(to, 'day')];
  return `${first}, ${tick(from, 'time')} – ${first === last ? '' : `${last}, `}${tick(to, 'time')}`;
};

/** The period of the same length before the range. `now`: in milliseconds. */
export const before = ({ seconds, until }: Range, now: number): Range => {
  // Rounded, so that consecutive reads share a cache entry.
  const end = until ?? Math.floor(now / 60_000) * 60;
  const to = end - seconds;
  return { text: between(to - seconds, to), seconds, until: to };
};

/** Whether `at` (milliseconds) is within the range. */
export const isWithin = ({ seconds, until }: Range, at: number, now: number): boolean => {
  const end = until ?? now / 1000;
  return at / 1000 <= end && at / 1000 >= end - seconds;
};

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Query of routes that filter by time. The start is rounded to a minute for the cache. */
export const sinceAndUntil = ({ seconds, until }: Range, now: number): Resource<unknown>['query'] => ({
  since: isoOf((until ?? Math.floor(now / 60_000) * 60) - seconds),
  until: until && isoOf(until),
});

/** Ten minutes a point for a day, and an hour for a week, so that hours can be added up to days. */
const POINTS_OF_A_DAY = 144;
const MOST_POINTS = 180;

const pointsFor = ({ seconds }: Range): number =>
  seconds > 2 * DAY_SECONDS ? Math.min(MOST_POINTS, Math.ceil(seconds / 3600)) : POINTS_OF_A_DAY;

export const statsQuery = (range: Range): Resource<unknown>['query'] => ({
  window: `${range.seconds}s`,
  until: range.until && isoOf(range.until),
  points: pointsFor(range),
});
