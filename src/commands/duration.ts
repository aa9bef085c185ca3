import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a time such as `90d`. @throws InvalidArgumentError */
export const duration = (text: string): number => {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const secs = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (!Number.isSafeInteger(secs))
    throw new InvalidArgumentError('It is a number and a unit: 90d, 24h, 30m, 60s.');
  return secs;
};
