import { useEffect, useMemo, useState } from 'react';
import { text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { controlLook } from '../../design/Field.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { Sparkline } from '../../design/Sparkline.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { matches, tokensOf } from '../../list/match.ts';
import { parseMetrics, rateOf, type Seen, type Series, withSample } from './prometheus.ts';
import css from './System.module.css';
import { texts } from './texts.ts';

const METRICS: Resource<string> = { path: '/metrics', guard: text, off: { statuses: [404] }, every: 10_000 };

const MOST_SHOWN = 200;

const Line = ({ series, seen }: { series: Series; seen: readonly Seen[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const rate = series.kind === 'counter' ? rateOf(seen) : undefined;
  return (
    <tr>
      <td>{series.name}</td>
      <td>
        {seen.length > 1 && (
          <Sparkline
            values={seen.map(({ value }) => value)}
            height={18}
            label={t('metrics.course', { name: series.name })}
          />
        )}
      </td>
      <td data-end>{format.number(series.value)}</td>
      <td data-end>{rate === undefined ? '' : format.number(Number(rate.toPrecision(3)))}</td>
    </tr>
  );
};

/** Own series first: those of the process are the same everywhere. */
const sortedSeries = (series: readonly Series[]): Series[] => {
  const isGeneral = ({ name }: Series): boolean => /^(process_|nodejs_)/.test(name);
  return [...series].sort((a, b) => Number(isGeneral(a)) - Number(isGeneral(b)));
};

export const Metrics = () => {
  const t = useTexts(texts);
  const query = useResource(METRICS);
  const [search, setSearch] = useState('');
  const [seen, setSeen] = useState<ReadonlyMap<string, readonly Seen[]>>(new Map());
  const series = useMemo(() => sortedSeries(parseMetrics(query.data ?? '')), [query.data]);
  const at = query.dataUpdatedAt;
  useEffect(() => {
    if (at > 0) setSeen((before) => withSample(before, series, at));
  }, [series, at]);
  const tokens = tokensOf(search);
  const shown = series.filter(({ name }) => matches([name], tokens)).slice(0, MOST_SHOWN);
  return (
    <Card
      title={t('metrics')}
      note={t('metrics.note')}
      flush
      actions={
        <input
          type="search"
          className={`${controlLook} ${css.search}`}
          data-page-search
          placeholder={t('metrics.search')}
          aria-label={t('metrics.search')}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      }
    >
      <Loaded query={query} off={METRICS.off} plain>
        {() => (
          <Scroller className={css.scroll} label={t('metrics')}>
            <table className={css.table}>
              <thead>
                <tr>
                  <th scope="col">{t('metrics.name')}</th>
                  <td />
                  <th scope="col" data-end>
                    {t('metrics.value')}
                  </th>
                  <th scope="col" data-end>
                    {t('metrics.rate')}
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((one) => (
                  <Line key={one.name} series={one} seen={seen.get(one.name) ?? []} />
                ))}
              </tbody>
            </table>
          </Scroller>
        )}
      </Loaded>
    </Card>
  );
};
