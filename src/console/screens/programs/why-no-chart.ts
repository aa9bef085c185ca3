import type { Say } from '../../i18n/locale.ts';
import type { Program } from './programs.ts';

/** What stands where a chart would. */
export const whyNoChart = (
  t: Say<'drawing' | 'stateless' | 'undrawn'>,
  { chart, problem }: Pick<Program['machines'][number], 'chart' | 'problem'>,
): string => {
  if (chart === 'drawing') return t('drawing');
  return problem === null ? t('stateless') : t('undrawn', { why: problem });
};
