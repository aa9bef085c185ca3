import { type ReactNode, useState } from 'react';
import type { Figures, Point } from '../data/resources.ts';
import { IconButton } from '../design/Button.tsx';
import { Card } from '../design/Layout.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './Activity.module.css';
import { DAY_SECONDS } from './range.ts';
import { StatTable } from './StatTable.tsx';
import { modelsIn, RUN_ENDS, runsIn, type Stats, shareOf, tokensIn, unpriced } from './stats.ts';
import { type ChartData, Legend, TimeChart, useSpanText } from './TimeChart.tsx';
import texts from './texts.json' with { type: 'json' };

/** Runs by outcome, latency, cost and tokens over a range. */

const PointTable = ({ label, times, series, format }: ChartData & { label: string }) => {
  const t = useTexts(texts);
  const time = useSpanText(times);
  const show = (value: number): string => (value < 0 ? '—' : format(value));
  return (
    <StatTable
      label={label}
      most={Number.POSITIVE_INFINITY}
      rows={times.slice(0, -1).map((_, index) => index)}
      rowId={String}
      columns={(column) => [
        column(
          t('chart.time'),
          (index) => index,
          (index) => time.span(index, index),
        ),
        ...series.map((one) => column(one.label, (index) => one.values[index] ?? -1, show)),
      ]}
    />
  );
};

/** The change relative to the previous period. */
export const Change = ({ now, before }: { now: number; before: number | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (before === undefined) return null;
  const share = format.percent(Math.abs(shareOf(now - before, before)));
  const kind = now === before ? 'same' : before === 0 ? 'new' : now > before ? 'more' : 'less';
  return <span className="quiet">{t(`change.${kind}`, { share })}</span>;
};

type Chart = ChartData & {
  title: string;
  note?: ReactNode;
  /** The figure of the headline, and what stands next to it. */
  figure: string;
  more?: ReactNode;
  change: readonly [now: number, before: number | undefined];
  /** Shown in place of the chart if there is nothing to measure. */
  none?: string | undefined;
};

/** The same data as a chart or as a table. */
const ChartCard = ({ chart, onSelect }: { chart: Chart } & Pick<ChartsProps, 'onSelect'>) => {
  const t = useTexts(texts);
  const [isTable, showTable] = useState(false);
  const { title, change } = chart;
  const Data = isTable ? PointTable : TimeChart;
  return (
    <Card
      title={title}
      note={chart.note}
      actions={
        <IconButton
          small
          icon="columns"
          aria-pressed={isTable}
          label={t('chart.asTable', { title })}
          onClick={() => showTable(!isTable)}
        />
      }
    >
      <div className={`row ${css.headline}`}>
        <strong>{chart.figure}</strong>
        {chart.more}
        <Change now={change[0]} before={change[1]} />
      </div>
      {chart.none === undefined ? (
        <>
          <Legend series={chart.series} />
          <Data {...chart} label={title} onSelect={onSelect} />
        </>
      ) : (
        <p className="quiet">{chart.none}</p>
      )}
    </Card>
  );
};

const COLORS = {
  completed: '--success',
  stopped: '--warn',
  blocked: '--text-2',
  failed: '--error',
  cancelled: '--line-strong',
  p50: '--info',
  p95: '--line-strong',
  input: '--info',
  output: '--agent',
} as const;

/** Points by the day on which they start, in the reader's time zone. */
const daysOf = (points: readonly Point[], dayOf: (at: number) => string): Point[][] => {
  const days = new Map<string, Point[]>();
  for (const point of points) {
    const day = dayOf(point.from * 1000);
    days.set(day, [...(days.get(day) ?? []), point]);
  }
  return [...days.values()];
};

type ChartsProps = {
  stats: Stats;
  /** Figures of the previous period, if they are compared. */
  before: Figures | undefined;
  onSelect: (from: number, to: number) => void;
};

const useCost = ({ stats: { agents, course }, before }: ChartsProps, end: number): Chart => {
  const t = useTexts(texts);
  const format = useFormat();
  const { points, total } = course;
  const unknown = unpriced(modelsIn(agents));
  const isLong = points.length * course.point_seconds > 2 * DAY_SECONDS;
  const groups = isLong ? daysOf(points, (at) => format.tick(at, 'day')) : points.map((point) => [point]);
  const usd = format.usd(total.cost_usd);
  const known = unknown.length > 0 ? t('cost.least', { usd }) : usd;
  return {
    title: t(isLong ? 'cost.perDay' : 'common.cost'),
    note: unknown.length > 0 && (
      <ScreenLink to="/models" title={unknown.map(({ model }) => model).join(', ')}>
        {t('cost.unpriced', { count: unknown.length })}
      </ScreenLink>
    ),
    figure: total.cost_usd === undefined ? t('common.na') : known,
    change: [total.cost_usd ?? 0, before && (before.cost_usd ?? 0)],
    none: total.cost_usd === undefined ? t('cost.none') : undefined,
    look: 'bars',
    format: format.usd,
    times: [...groups.map(([first]) => (first?.from ?? 0) * 1000), end],
    series: [
      {
        label: t('common.cost'),
        color: '--accent',
        values: groups.map((group) => group.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0)),
      },
    ],
  };
};

const useCharts = (props: ChartsProps): readonly Chart[] => {
  const t = useTexts(texts);
  const format = useFormat();
  const { before } = props;
  const { points, point_seconds: step, total } = props.stats.course;
  const times = [...points.map(({ from }) => from * 1000), ((points.at(-1)?.from ?? 0) + step) * 1000];
  const cost = useCost(props, times.at(-1) ?? 0);
  const all = runsIn(total);
  const series = (
    name: keyof typeof COLORS,
    show: (value: number) => string,
    of: (one: Figures) => number,
  ) => ({
    label: name === 'p50' || name === 'p95' ? name : t(`series.${name}`),
    color: COLORS[name],
    values: points.map(of),
    total: show(of(total)),
  });
  const measured = (values: readonly number[]) =>
    values.map((value, index) => (points[index]?.inference_count === 0 ? undefined : value));
  const latency = (ms: number): string => (total.inference_count === 0 ? '—' : format.duration(ms));
  const share = format.percent(shareOf(total.failed_runs, all));
  return [
    {
      title: t('common.runs'),
      figure: format.number(all),
      more: total.failed_runs > 0 && <span className="bad">{t('runs.failed', { share })}</span>,
      change: [all, before && runsIn(before)],
      look: 'bars',
      format: format.number,
      times,
      series: RUN_ENDS.map((end) => series(end, format.number, (one) => one[`${end}_runs`])),
    },
    {
      title: t('latency'),
      figure: latency(total.p95_inference_duration_ms),
      more: <span className="quiet">{t('inferences', { count: total.inference_count })}</span>,
      change: [total.p95_inference_duration_ms, before?.p95_inference_duration_ms],
      look: 'band',
      format: format.duration,
      times,
      series: (['p50', 'p95'] as const)
        .map((name) => series(name, latency, (one) => one[`${name}_inference_duration_ms`]))
        .map((one) => ({ ...one, values: measured(one.values) })),
    },
    cost,
    {
      title: t('tokens'),
      figure: format.compact(tokensIn(total)),
      change: [tokensIn(total), before && tokensIn(before)],
      look: 'bars',
      format: format.compact,
      times,
      series: (['input', 'output'] as const).map((way) =>
        series(way, format.compact, (one) => one[`${way}_tokens`]),
      ),
    },
  ];
};

export const Charts = (props: ChartsProps) => (
  <div className="halves">
    {useCharts(props).map((chart) => (
      <ChartCard key={chart.title} chart={chart} onSelect={props.onSelect} />
    ))}
  </div>
);
