import type { Locale } from './language.ts';

/** Numbers, sizes and times as people read them, in a language. */

export type Zone = 'local' | 'utc';

/** Milliseconds of what the service tells: seconds, milliseconds, or RFC 3339. Undefined where it is no time. */
export const instantOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value <= 0) return undefined;
    return value < 1e11 ? value * 1000 : value;
  }
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
};

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

/** These are slow to make. */
const kept = <F extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  key: string,
  make: () => F,
): F => {
  const known = formats.get(key) ?? make();
  formats.set(key, known);
  // One key is always made in the same place.
  return known as F;
};

export const formatNumber = (value: number, locale: Locale, options: Intl.NumberFormatOptions = {}): string =>
  kept(`n${locale}${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options)).format(value);

/** `12.3K`: for places that have no room for more. */
export const formatCompact = (value: number, locale: Locale): string =>
  formatNumber(value, locale, { notation: 'compact', maximumFractionDigits: 1 });

export const formatPercent = (share: number, locale: Locale): string =>
  formatNumber(share, locale, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 });

export const formatUsd = (value: number, locale: Locale): string =>
  formatNumber(value, locale, {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: value !== 0 && value < 1 ? 4 : 2,
  });

export const formatDate = (at: number, locale: Locale, zone: Zone): string =>
  kept(
    `d${locale}${zone}`,
    () =>
      new Intl.DateTimeFormat(locale, {
        dateStyle: 'medium',
        timeStyle: 'medium',
        hourCycle: 'h23',
        ...(zone === 'utc' && { timeZone: 'UTC' }),
      }),
  ).format(at) + (zone === 'utc' ? ' UTC' : '');

/** `14:03:59.120`: for what happens within a second. */
export const formatClock = (at: number, locale: Locale, zone: Zone): string =>
  kept(
    `c${locale}${zone}`,
    () =>
      new Intl.DateTimeFormat(locale, {
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        fractionalSecondDigits: 3,
        hourCycle: 'h23',
        ...(zone === 'utc' && { timeZone: 'UTC' }),
      }),
  ).format(at);

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** `3 minutes ago` */
export const formatAge = (at: number, now: number, locale: Locale): string => {
  const format = kept(
    `r${locale}`,
    () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
  );
  const distance = at - now;
  for (const [unit, ms] of STEPS) {
    if (Math.abs(distance) >= ms) return format.format(Math.trunc(distance / ms), unit);
  }
  return format.format(0, 'second');
};

/** `812 ms`, `3.4 s`, `2 m 05 s`, `3 h 12 m`, `4 d 2 h` */
export const formatDuration = (ms: number): string => {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours, days] = [
    Math.floor(seconds / 60),
    Math.floor(seconds / 3600),
    Math.floor(seconds / 86_400),
  ];
  if (minutes < 60) return `${minutes} m ${pad(seconds % 60)} s`;
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${pad(minutes % 60)} m`;
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
};

/** Of what is known by whole seconds: `7 s`, never `7.0 s`. */
export const formatSeconds = (seconds: number): string => {
  const whole = Math.floor(seconds);
  return whole < 60 ? `${whole} s` : formatDuration(whole * 1000);
};

const pad = (value: number): string => String(value).padStart(2, '0');
