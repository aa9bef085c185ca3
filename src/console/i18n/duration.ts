import { formatNumber } from './format.ts';
import type { Locale } from './language.ts';

/** A number with its unit. Latin units are separated from the number: `3.4 s`, but `3.4秒`. */
const measured = (
  value: number,
  unit: string,
  locale: Locale,
  options: Intl.NumberFormatOptions = {},
): string =>
  formatNumber(value, locale, { style: 'unit', unit, unitDisplay: 'narrow', ...options }).replace(
    /(?<=\d)(?=[a-z])/,
    ' ',
  );

/** `812 ms`, `3.4 s`, `2 m`, `2 m 05 s`, `3 h 12 m`, `4 d 2 h` */
export const formatDuration = (ms: number, locale: Locale): string => {
  if (ms < 999.5) return measured(Math.round(ms), 'millisecond', locale);
  if (ms < 59_950) {
    return measured(ms / 1000, 'second', locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  }
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(seconds / 3600);
  const two = (whole: string, rest: string): string => `${whole} ${rest}`;
  const padded = { minimumIntegerDigits: 2 };
  if (minutes < 60) {
    const whole = measured(minutes, 'minute', locale);
    return seconds % 60 === 0 ? whole : two(whole, measured(seconds % 60, 'second', locale, padded));
  }
  if (hours < 24) {
    const whole = measured(hours, 'hour', locale);
    return minutes % 60 === 0 ? whole : two(whole, measured(minutes % 60, 'minute', locale, padded));
  }
  const days = measured(Math.floor(hours / 24), 'day', locale);
  return hours % 24 === 0 ? days : two(days, measured(hours % 24, 'hour', locale));
};

/** For durations in whole seconds: `7 s`, never `7.0 s`. */
export const formatSeconds = (seconds: number, locale: Locale): string => {
  const whole = Math.floor(seconds);
  return whole < 60 ? measured(whole, 'second', locale) : formatDuration(whole * 1000, locale);
};
