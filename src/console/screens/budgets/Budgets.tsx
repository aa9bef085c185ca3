import { useResource } from '../../data/queries.ts';
import { Notice } from '../../design/Notice.tsx';
import type { EntryDescriptor } from '../../entry/EntryFields.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useEntries } from '../../entry/use-entries.ts';
import { type Format, type Say, textOr, useTexts } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { waitingRunsSlowly } from '../../run-records/waiting.ts';
import { BUDGETS, type Budget, UNITS } from './budget.ts';
import { Counters, WorstCounter } from './Counters.tsx';
import texts from './texts.json' with { type: 'json' };

const BUDGET: EntryDescriptor = {
  namespace: 'budgets',
  entity: 'entity.budget',
  texts,
  start: { id: '', window: { every: 'month' }, limits: {}, on_exceeded: 'pause' },
  fields: () => ['id', 'limits', 'window', 'per', 'match', 'on_exceeded', 'warn_at', 'unpriced'],
};

const limitsOf = ({ limits }: Budget, t: Say<keyof typeof texts>, format: Format): string =>
  [
    ...(limits.usd === undefined ? [] : [format.usd(limits.usd)]),
    ...UNITS.flatMap((unit) =>
      limits[unit] === undefined ? [] : [`${format.number(limits[unit])} ${t(`unit.${unit}`)}`],
    ),
  ].join(' · ');

const columnsOf: ColumnsOf<Budget, keyof typeof texts> = (t, format) => [
  { id: 'worst', drawn: ({ id }) => <WorstCounter budget={id} /> },
  { id: 'limits', label: t('field.limits'), value: (row) => limitsOf(row, t, format), shortened: true },
  {
    id: 'window',
    label: t('field.window'),
    value: ({ window }) =>
      window ? textOr(t, texts, `field.window.every.${window.every}`, window.every) : '—',
  },
  {
    id: 'per',
    label: t('field.per'),
    value: ({ per }) => per.map((each) => textOr(t, texts, `field.per.*.${each}`, each)).join(', ') || '—',
    shortened: true,
  },
  {
    id: 'on_exceeded',
    label: t('field.on_exceeded'),
    value: ({ on_exceeded: way }) => textOr(t, texts, `field.on_exceeded.${way}`, way),
    shortened: true,
  },
];

/** Runs that wait because a budget is exhausted. */
const WaitingForBudget = () => {
  const t = useTexts(texts);
  const runs = useResource(waitingRunsSlowly).data?.items ?? [];
  const count = runs.filter(({ waiting }) =>
    waiting?.tickets.some(({ reason }) => reason === 'budget:exceeded'),
  ).length;
  if (count === 0) return null;
  return (
    <Notice tone="warn" title={t('waiting', { count })}>
      <ScreenLink to="/inbox">{t('waiting.inbox')}</ScreenLink>
    </Notice>
  );
};

export default function Budgets() {
  return (
    <EntryScreen
      kind={BUDGET}
      texts={texts}
      entries={useEntries(BUDGETS)}
      columns={columnsOf}
      menu={(_, { t, open }) => [{ label: t('counters'), icon: 'usage', act: () => open('counters') }]}
      dialogs={{ counters: Counters }}
    >
      <WaitingForBudget />
    </EntryScreen>
  );
}
