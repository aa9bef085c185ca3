import { useResource } from '../../data/queries.ts';
import { Bar } from '../../design/Bar.tsx';
import { DataTable } from '../../design/DataTable.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { DateTime } from '../../design/Time.tsx';
import type { EntryDialog } from '../../entry/EntryScreen.tsx';
import { textOr, useFormat, useTexts } from '../../i18n/locale.ts';
import { type Counter, countersOf, type Gauge, gaugesOf, nameOf } from './budget.ts';
import css from './Counters.module.css';
import texts from './texts.json' with { type: 'json' };

/** The counters of a budget as bars. */

/** A bar turns amber when four fifths are used. */
const NEARLY = 0.8;

const GaugeBar = ({ gauge }: { gauge: Gauge }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { unit, spent, limit, share, reserved } = gauge;
  const amount = (value: number): string => (unit === 'usd' ? format.usd(value) : format.compact(value));
  const tone = share >= 1 ? 'error' : share >= NEARLY ? 'warn' : 'info';
  const values = { spent: amount(spent), limit: amount(limit), unit: textOr(t, texts, `unit.${unit}`, unit) };
  const words = unit === 'usd' ? t('counter.ofUsd', values) : t('counter.of', values);
  return (
    <span
      className="row"
      title={reserved > 0 ? t('counter.reserved', { amount: amount(reserved) }) : undefined}
    >
      <Bar share={share} tone={tone} />
      <span className="quiet">{words}</span>
    </span>
  );
};

/** The fullest limit of the fullest counter. */
export const WorstCounter = ({ budget }: { budget: string }) => {
  const t = useTexts(texts);
  const { data, error } = useResource(countersOf(budget, 1));
  const [counter] = data?.items ?? [];
  const [gauge] = counter ? gaugesOf(counter) : [];
  if (!counter || !gauge) return <span className="quiet">{data || error ? t('counter.none') : ''}</span>;
  const name = nameOf(counter);
  return (
    <span className={css.worst}>
      <GaugeBar gauge={gauge} />
      {name !== '' && (
        <span className="quiet cut" title={name}>
          {name}
        </span>
      )}
    </span>
  );
};

const MOST = 100;

const Table = ({ items }: { items: readonly Counter[] }) => {
  const t = useTexts(texts);
  return (
    <DataTable
      label={t('counters')}
      rows={items}
      rowId={(counter) => JSON.stringify(counter.key)}
      none={t('counter.none')}
      columns={[
        { label: t('counter.key'), look: 'wide', cell: (counter) => nameOf(counter) || t('counter.only') },
        {
          label: t('counter.used'),
          cell: (counter) => (
            <span className="stack">
              {gaugesOf(counter).map((gauge) => (
                <GaugeBar key={gauge.unit} gauge={gauge} />
              ))}
            </span>
          ),
        },
        {
          label: t('counter.resets'),
          cell: ({ resets_at: at }) => (at === undefined ? '—' : <DateTime at={at} />),
        },
      ]}
    />
  );
};

/** The fullest counters of a budget. */
export const Counters: EntryDialog = ({ id, onClose }) => {
  const t = useTexts(texts);
  const query = useResource(countersOf(id, MOST));
  return (
    <Drawer title={t('counters.title', { id })} onClose={onClose}>
      <Loaded query={query}>{({ items }) => <Table items={items} />}</Loaded>
    </Drawer>
  );
};
