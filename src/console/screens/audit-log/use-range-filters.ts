import { useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { SPANS } from './audit-event.ts';
import texts from './texts.json' with { type: 'json' };

/** The range of a log is a span until now, or has its own start and end. */
export const useRangeFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return [
    {
      key: 'since',
      kind: 'choice',
      label: t('filter.range'),
      options: SPANS.map(([span]) => [span, t(`range.${span}`)] as const),
    },
    { key: 'since', kind: 'time', label: t('filter.since') },
    { key: 'until', kind: 'time', label: t('filter.until') },
  ];
};
