import type { Locale } from './language.ts';

/** Localized formats of numbers, sizes and times. */

export type Zone = 'local' | 'utc';

/**
 * Converts a time of the service to milliseconds. Accepts seconds, milliseconds and RFC 3339; undefined for anything
 * else.
 */
export const instantOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value <= 0) return undefined;
    return value < 1e11 ? value * 1000 : value;
  }
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
};

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

/** Caches formatters, which are slow to create. */
const kept = <F extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  key: string,
  make: () => F,
): F => {
  const known = formats.get(key) ?? make();
  formats.set(key, known);
  // Each key is always used with the same kind of formatter.
  return known as F;
};

export const formatNumber = (value: number, locale: Locale, options: Intl.NumberFormatOptions = {}): string =>
  kept(`n${locale}${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options)).format(value);

/** `12.3K`, for narrow places. */
export const formatCompact = (value: number, locale: Locale): string =>
  formatNumber(value, locale, { notation: 'compact', maximumFractionDigits: 1 });

export const formatPercent = (share: number, locale: Locale): string =>
  formatNumber(share, locale, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 });

export const formatUsd = (value: number, locale: Locale): string =>
  formatNumber(value, locale, {
    style: 'currency',
    currency: 'USD',
    ...(value > 0 && value < 0.001
      ? { maximumSignificantDigits: 2 }
      : { maximumFractionDigits: value !== 0 && value < 1 ? 4 : 2 }),
  });

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { month: 'short', day: 'numeric' } as const;

const DATES = {
  whole: { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' },
  date: { dateStyle: 'short' },
  day: DAY,
  time: TIME,
  moment: { ...DAY, ...TIME },
  clock: { ...TIME, second: '2-digit', fractionalSecondDigits: 3 },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const dated = (at: number, locale: Locale, zone: Zone, kind: keyof typeof DATES): string => {
  const where = zone === 'utc' && { timeZone: 'UTC' };
  const format = (): Intl.DateTimeFormat => new Intl.DateTimeFormat(locale, { ...DATES[kind], ...where });
  return kept(`${kind} ${locale} ${zone}`, format).format(at);
};

export const formatDate = (at: number, locale: Locale, zone: Zone): string =>
  dated(at, locale, zone, 'whole') + (zone === 'utc' ? ' UTC' : '');

/** `23:35` today, `Nov 27, 23:35` on another day. */
export const formatMoment = (at: number, now: number, locale: Locale, zone: Zone): string => {
  const isToday = dated(at, locale, zone, 'date') === dated(now, locale, zone, 'date');
  return dated(at, locale, zone, isToday ? 'time' : 'moment');
};

/** `14:03:59.120`, for events within a second. */
export const formatClock = (at: number, locale: Locale, zone: Zone): string =>
  dated(at, locale, zone, 'clock');

/** `14:03`, or `28 Nov` for a day, for axes. */
export const formatTick = (at: number, locale: Locale, zone: Zone, kind: 'time' | 'day'): string =>
  dated(at, locale, zone, kind);

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** `3 min ago`: without the period that English puts after a short unit. */
export const formatAge = (at: number, now: number, locale: Locale): string => {
  const format = kept(
    `r${locale}`,
    () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
  );
  const distance = at - now;
  for (const [unit, ms] of STEPS) {
    if (Math.abs(distance) >= ms) return format.format(Math.trunc(distance / ms), unit).replace('.', '');
  }
  return format.format(0, 'second');
};
