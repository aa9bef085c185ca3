import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './Activity.module.css';
import { bandPath, barsPath, labelled, linePath, niceTop, type Span, selection, stacked } from './chart.ts';
import { DAY_SECONDS, spanText } from './range.ts';
import texts from './texts.json' with { type: 'json' };

/** A chart over time. Arrow keys move between its points, and a drag or Shift selects several of them. */

export type Series = {
  label: string;
  /** A design token, such as `--info`. */
  color: string;
  /** One per point; undefined where nothing was measured. */
  values: readonly (number | undefined)[];
  /** Shown in the legend. */
  total?: string | undefined;
};

export type ChartData = {
  /** Start of each point and end of the last one, in milliseconds. */
  times: readonly number[];
  series: readonly Series[];
  /** Stacked bars, or a band between the first and the last series. */
  look: 'bars' | 'band';
  format: (value: number) => string;
};

export const useSpanText = (times: readonly number[]) => {
  const format = useFormat();
  const [first = 0, second = 0] = times;
  const isDaily = second - first >= DAY_SECONDS * 1000 * 0.9;
  const isLong = (times.at(-1) ?? 0) - first > 2 * DAY_SECONDS * 1000;
  return {
    tick: (at: number): string => format.tick(at, isLong ? 'day' : 'time'),
    /** The time of the points from `from` to `to`. */
    span(from: number, to: number): string {
      const start = times[from] ?? 0;
      return isDaily ? format.tick(start, 'day') : spanText(format.tick, start, times[to + 1] ?? start);
    },
  };
};

/** The values of each point, one per series. */
type Rows = readonly (readonly (number | undefined)[])[];

const bandOf = (row: Rows[number]): Span | undefined => {
  const [low, high] = [row[0], row.at(-1)];
  return low === undefined || high === undefined ? undefined : [low, high];
};

const Shapes = ({
  series,
  look,
  rows,
  top,
}: Pick<ChartData, 'series' | 'look'> & { rows: Rows; top: number }) => {
  const stacks = rows.map((row) => stacked(row.map((value) => value ?? 0)));
  return (
    <>
      {look === 'band' && <path d={bandPath(rows.map(bandOf), top)} fill="var(--info-tint)" />}
      {series.map(({ label, color, values }, index) =>
        look === 'bars' ? (
          <path
            key={label}
            d={barsPath(
              stacks.map((stack) => stack[index]),
              top,
            )}
            fill={`var(${color})`}
          />
        ) : (
          <path
            key={label}
            d={linePath(values, top)}
            className={css.curve}
            style={{ stroke: `var(${color})` }}
            strokeWidth={2}
          />
        ),
      )}
    </>
  );
};

export const Legend = ({ series }: Pick<ChartData, 'series'>) => (
  <ul className="row quiet" style={{ marginBottom: 14 }}>
    {series.map(({ label, color, total }) => (
      <li key={label}>
        <span className={css.swatch} style={{ background: `var(${color})` }} />
        {label} <strong>{total}</strong>
      </li>
    ))}
  </ul>
);

const useCursor = (count: number, onSelect: ((span: Span) => void) | undefined) => {
  const [cursor, setCursor] = useState<number>();
  const [anchor, setAnchor] = useState<number>();
  const clear = (): void => {
    setCursor(undefined);
    setAnchor(undefined);
  };
  const clamp = (index: number): number => Math.min(count - 1, Math.max(0, index));
  const indexAt = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return clamp(Math.floor(((clientX - left) / width) * count));
  };
  const choose = (end: number): void => {
    if (anchor !== undefined && anchor !== end) onSelect?.(selection(anchor, end));
    clear();
  };
  const move = (index: number, extends_: boolean): void => {
    setAnchor(extends_ ? (anchor ?? cursor ?? index) : undefined);
    setCursor(clamp(index));
  };
  return {
    cursor,
    selected: cursor === undefined || anchor === undefined ? undefined : selection(anchor, cursor),
    handlers: {
      onBlur: clear,
      onPointerCancel: clear,
      onPointerLeave: (event: PointerEvent<HTMLElement>) => event.buttons === 0 && clear(),
      onPointerMove: (event: PointerEvent<HTMLElement>) => setCursor(indexAt(event)),
      onPointerDown(event: PointerEvent<HTMLElement>) {
        if (event.pointerType === 'mouse') event.currentTarget.setPointerCapture(event.pointerId);
        setAnchor(indexAt(event));
      },
      onPointerUp: (event: PointerEvent<HTMLElement>) => choose(indexAt(event)),
      onKeyDown(event: KeyboardEvent<HTMLElement>) {
        const now = cursor ?? (event.key === 'ArrowRight' ? -1 : count);
        const keys = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: count - 1 };
        const next = new Map(Object.entries(keys)).get(event.key);
        if (next !== undefined) move(next, event.shiftKey);
        else if (event.key === 'Enter' && cursor !== undefined) choose(cursor);
        else if (event.key === 'Escape' && cursor !== undefined) clear();
        else return;
        event.preventDefault();
      },
    },
  };
};

const MOST_LABELS = 6;

export const TimeChart = (
  props: ChartData & { label: string; onSelect?: ((from: number, to: number) => void) | undefined },
) => {
  const t = useTexts(texts);
  const { times, series, look, format } = props;
  const count = times.length - 1;
  const time = useSpanText(times);
  const { cursor, selected, handlers } = useCursor(count, ([from, to]) =>
    props.onSelect?.(times[from] ?? 0, times[to + 1] ?? 0),
  );
  const rows: Rows = times.slice(0, -1).map((_, index) => series.map(({ values }) => values[index]));
  const height = (row: Rows[number]): number =>
    row.reduce<number>((sum, value = 0) => (look === 'bars' ? sum + value : Math.max(sum, value)), 0);
  const top = niceTop(Math.max(0, ...rows.map(height)));
  const [from, to] = selected ?? [cursor ?? 0, cursor ?? 0];
  const said = (rows[cursor ?? 0] ?? []).flatMap((value, index) =>
    value === undefined || (look === 'bars' && value === 0) ? [] : `${series[index]?.label} ${format(value)}`,
  );
  const span = time.span(from, to);
  const figures = selected ? [t('chart.selected')] : said;
  const share = (index: number): string => `${(index / count) * 100}%`;
  return (
    <div className={css.chart}>
      <div className={`column ${css.scale}`} aria-hidden="true">
        <span>{format(top)}</span>
        <span>{format(top / 2)}</span>
        <span>{format(0)}</span>
      </div>
      <div
        className={css.plot}
        role="slider"
        tabIndex={0}
        aria-label={props.label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={cursor ?? 0}
        aria-valuetext={[span, ...(figures.length === 0 ? [t('chart.nothing')] : figures)].join(', ')}
        {...handlers}
      >
        <svg viewBox={`0 0 ${Math.max(1, count)} 100`} preserveAspectRatio="none" aria-hidden="true">
          <path d={`M0 .5H${count}M0 50H${count}M0 99.5H${count}`} className={css.curve} />
          {cursor !== undefined && (
            <rect x={from} width={to - from + 1} height="100" fill="var(--surface-2)" />
          )}
          <Shapes {...props} rows={rows} top={top} />
        </svg>
        {cursor !== undefined && (
          <div
            className={`tip ${css.readout}`}
            data-side={cursor > count / 2 ? 'left' : 'right'}
            style={{ left: share(cursor > count / 2 ? from : to + 1) }}
            aria-hidden="true"
          >
            <strong>{span}</strong>
            {figures.map((one) => (
              <span key={one}>{one}</span>
            ))}
          </div>
        )}
      </div>
      <div className={css.ticks} aria-hidden="true">
        {labelled(count, MOST_LABELS).map((index) => (
          <span key={index} style={{ left: share(index) }}>
            {time.tick(times[index] ?? 0)}
          </span>
        ))}
      </div>
    </div>
  );
};
