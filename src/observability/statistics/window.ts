import { Invalid } from '../../schema/outcome.ts';

/** `<n>s`, `<n>m`, `<n>h`, `<n>d` or `<n>` seconds (evals-and-traces.md 10.1). */

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Returns seconds; `Infinity` for a number that is too large to represent.
 *
 * @throws Invalid
 */
export const parseWindow = (text: string): number => {
  const window = text.trim();
  if (window === '') throw new Invalid('window value is empty');
  const [, digits, unit = 's'] = /^(\d+)([smhd])?$/.exec(window) ?? [];
  if (digits === undefined) {
    throw new Invalid(`invalid window format "${window}": expected <n>[s|m|h|d]`);
  }
  const seconds = Number(digits) * (SECONDS[unit] ?? 1);
  if (seconds === 0) throw new Invalid(`window "${window}" must be greater than zero`);
  return seconds;
};
