import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { type Say, useFormat } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { BUDGETS, type Budget } from './budget.ts';
import { BUDGET } from './budget-form.tsx';
import { texts } from './texts.ts';

type Format = ReturnType<typeof useFormat>;

type Key = keyof typeof texts.en;

const isText = (key: string): key is Key => key in texts.en;

/** The text of an option of a field, or the option itself if this version does not know it. */
const optionOf = (t: Say<Key>, field: string, option: string): string => {
  const key = `field.${field}.${option}`;
  return isText(key) ? t(key) : option;
};

const limitsOf = ({ limits: { tokens, usd } }: Budget, t: Say<Key>, format: Format): string =>
  [
    ...(usd === undefined ? [] : [format.usd(usd)]),
    ...(tokens === undefined ? [] : [t('limit.tokens', { count: format.number(tokens) })]),
  ].join(' · ');

const columnsOf =
  (format: Format) =>
  (t: Say<Key>): Column<Budget>[] => [
    { id: 'limits', label: t('field.limits'), value: (row) => limitsOf(row, t, format) },
    {
      id: 'window',
      label: t('field.window'),
      value: ({ window }) => (window ? optionOf(t, 'window.every', window.every) : '—'),
    },
    {
      id: 'per',
      label: t('field.per'),
      value: ({ per }) => per.map((each) => optionOf(t, 'per.*', each)).join(', ') || '—',
    },
    {
      id: 'on_exceeded',
      label: t('field.on_exceeded'),
      value: ({ on_exceeded }) => optionOf(t, 'on_exceeded', on_exceeded),
    },
  ];

export default function Budgets() {
  const query = useResource(BUDGETS);
  const format = useFormat();
  const columns = useMemo(() => columnsOf(format), [format]);
  return (
    <EntryScreen
      kind={BUDGET}
      texts={texts}
      query={query}
      off={BUDGETS.off}
      rows={query.data ?? []}
      columns={columns}
    />
  );
}
