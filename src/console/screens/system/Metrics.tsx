import { useEffect, useMemo, useState } from 'react';
import { text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { backendUrl } from '../../data/request.ts';
import { Card, Stat } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Sparkline } from '../../design/Sparkline.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { type Figures, figuresOf, parseMetrics, type Reading, TILES, type Tile } from './prometheus.ts';
import css from './System.module.css';
import texts from './texts.json' with { type: 'json' };

const EVERY_MS = 5000;

const METRICS: Resource<string> = {
  path: '/metrics',
  guard: text,
  off: { statuses: [404] },
  every: EVERY_MS,
};

/** Ten minutes of readings. */
const MOST_KEPT = 120;

type Course = { last: Reading | undefined; figures: readonly Figures[] };

/** The figures of each reading since this page was opened, oldest first. */
const useCourse = (reading: Reading): Course => {
  const [course, setCourse] = useState<Course>({ last: undefined, figures: [] });
  useEffect(() => {
    setCourse(({ last, figures }) =>
      reading.at === 0 || last?.at === reading.at
        ? { last, figures }
        : { last: reading, figures: [...figures, figuresOf(reading, last)].slice(-MOST_KEPT) },
    );
  }, [reading]);
  return course;
};

const MEGABYTE = 1024 * 1024;

const useTileText = () => {
  const format = useFormat();
  return (tile: Tile, value: number | undefined): string => {
    if (value === undefined) return '—';
    if (tile === 'latency') return `≤ ${format.duration(value * 1000)}`;
    if (tile === 'loop') return format.duration(value * 1000);
    if (tile === 'heap' || tile === 'store') return `${format.compact(value / MEGABYTE)} MB`;
    return format.compact(value);
  };
};

const Tiles = ({ figures }: { figures: readonly Figures[] }) => {
  const t = useTexts(texts);
  const textOf = useTileText();
  return (
    <div className={css.tiles}>
      {TILES.map((tile) => {
        const value = figures.at(-1)?.[tile];
        const known = figures.flatMap((one) => one[tile] ?? []);
        const isBad = tile === 'errors' && value !== undefined && value > 0;
        return (
          <section key={tile} className={`stack ${css.tile}`} aria-label={t(`tile.${tile}`)}>
            <Stat label={t(`tile.${tile}`)} value={textOf(tile, value)} tone={isBad ? 'error' : undefined} />
            <Sparkline
              values={known}
              color={isBad ? '--error' : '--info'}
              label={t('tile.course', {
                name: t(`tile.${tile}`),
                low: textOf(tile, known.length === 0 ? undefined : Math.min(...known)),
                high: textOf(tile, known.length === 0 ? undefined : Math.max(...known)),
              })}
            />
          </section>
        );
      })}
    </div>
  );
};

/** The current load; the raw series of the metrics are one link away. */
export const Metrics = () => {
  const t = useTexts(texts);
  const query = useResource(METRICS);
  const { data, dataUpdatedAt: at } = query;
  const reading = useMemo(() => ({ at, series: parseMetrics(data ?? '') }), [data, at]);
  const { figures } = useCourse(reading);
  return (
    <Card
      title={t('metrics')}
      note={t('metrics.note')}
      flush
      actions={<a href={`${backendUrl()}${METRICS.path}`}>{t('series')}</a>}
    >
      <Loaded query={query} off={METRICS.off} plain>
        {() => <Tiles figures={figures} />}
      </Loaded>
    </Card>
  );
};
