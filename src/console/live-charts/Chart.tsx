import { memo, useId } from 'react';
import type { ChartArrow, Chart as ChartData, ChartRow, ChartState } from '../../schema/chart.ts';
import type { Tone } from '../design/Chip.tsx';
import css from './Chart.module.css';
import { along, lengthOf } from './way.ts';

/** A statechart: nested boxes and the arrows between them, with active states and passed arrows highlighted. */

const LINE = 15;
/** Distance of the baseline from the top of its line. */
const BASELINE = 11;
const INDENT = 12;

const Rows = ({ rows, x, y }: { rows: readonly ChartRow[]; x: number; y: number }) =>
  rows.map(({ text, indented, soft }, index) => (
    <text
      key={text}
      x={x + (indented ? INDENT : 0)}
      y={y + index * LINE + BASELINE}
      className={soft ? css.soft : css.row}
    >
      {text}{' '}
    </text>
  ));

type StateProps = {
  state: ChartState;
  isLit: boolean;
  isChosen: boolean;
  count: number | undefined;
  onChoose: ((path: string) => void) | undefined;
};

const TONES: Partial<Record<ChartState['tint'], Tone>> = {
  running: 'info',
  waiting: 'warn',
  completed: 'success',
  failed: 'error',
};

const State = memo(({ state, isLit, isChosen, count, onChoose }: StateProps) => {
  const { path, name, x, y, width, height, open, final } = state;
  const choose = (): void => onChoose?.(path);
  return (
    <g
      className={css.state}
      data-state={path}
      data-tone={TONES[state.tint]}
      data-open={open || undefined}
      data-lit={isLit || undefined}
      data-chosen={isChosen || undefined}
      {...(onChoose && {
        role: 'button',
        tabIndex: 0,
        'aria-pressed': isChosen,
        'aria-label': [path, ...state.rows.map(({ text }) => text), count || ''].join(' ').trim(),
        onClick: (event: { stopPropagation(): void }) => {
          event.stopPropagation();
          choose();
        },
        onKeyDown: (event: { key: string; preventDefault(): void }) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          choose();
        },
      })}
    >
      <title>{state.about || path}</title>
      <rect className={css.box} x={x} y={y} width={width} height={height} rx={8} />
      {final && (
        <rect className={css.inner} x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />
      )}
      <text className={css.name} x={x + 12} y={y + 8 + BASELINE}>
        {name}{' '}
      </text>
      <Rows rows={state.rows} x={x + 12} y={y + 8 + LINE} />
      {count !== undefined && count > 0 && (
        <text className={css.count} x={x + width - 10} y={y + 8 + BASELINE} textAnchor="end">
          {count}
        </text>
      )}
    </g>
  );
});

const pathThrough = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, index) => `${index ? 'L' : 'M'}${x} ${y}`).join('');

/** The start of an arrow that leads from several states, if the drawing has no space for their names. */
const Origin = ({ at }: { at: { x: number; y: number } | undefined }) =>
  at && <circle className={css.origin} cx={at.x} cy={at.y} r={4.5} />;

type ArrowProps = { arrow: ChartArrow; heads: string; passed: number; flash: number };

const Arrow = memo(({ arrow, heads, passed, flash }: ArrowProps) => {
  const { points, label, rows, kind, inward } = arrow;
  const d = pathThrough(points);
  return (
    <g className={css.arrow} data-kind={kind} data-passed={passed > 0 || undefined}>
      <title>{arrow.about}</title>
      <path className={css.line} d={d} markerEnd={`url(#${heads}-${passed > 0 ? 'passed' : kind})`} />
      {flash > 0 && <path key={flash} className={css.flash} d={d} pathLength={1} />}
      {inward && rows.length === 0 && <Origin at={points[0]} />}
      {rows.length > 0 && (
        <rect
          className={css.label}
          data-inward={inward || undefined}
          x={label.x}
          y={label.y}
          width={label.width}
          height={label.height}
          rx={inward ? 10 : 4}
        />
      )}
      <Rows rows={rows} x={label.x + 5} y={label.y + 2} />
    </g>
  );
});

const LETTER = 6.9;

/** The transition that was just taken, named on its arrow and within the chart. */
const Taken = ({ chart, flash: { arrow: index, name } }: { chart: ChartData; flash: Flash }) => {
  const arrow = chart.arrows[index];
  if (!arrow || name === undefined) return null;
  const middle = along(arrow.points, lengthOf(arrow.points) / 2);
  const width = name.length * LETTER + 12;
  const x = Math.min(Math.max(middle.x - width / 2, 2), chart.width - width - 2);
  return (
    <g className={css.taken} data-testid="taken-transition">
      <rect x={x} y={middle.y - 10} width={width} height={20} rx={10} />
      <text x={x + width / 2} y={middle.y + 4} textAnchor="middle">
        {name}
      </text>
    </g>
  );
};

const HEADS = ['event', 'error', 'timer', 'passed'] as const;

/** Marker ids include the chart's id, because several charts may share a page. */
const Heads = ({ id }: { id: string }) => (
  <defs>
    {HEADS.map((kind) => (
      <marker
        key={kind}
        id={`${id}-${kind}`}
        viewBox="0 0 8 8"
        refX={7.5}
        refY={4}
        markerWidth={8}
        markerHeight={8}
        orient="auto"
        markerUnits="userSpaceOnUse"
      >
        <path className={css.head} data-kind={kind} d="M0 0.5L8 4L0 7.5Z" />
      </marker>
    ))}
  </defs>
);

const NONE: ReadonlyMap<number, number> = new Map();

/** A new nonce repeats the animation. `name`: text on the arrow. */
export type Flash = { arrow: number; nonce: number; name?: string | undefined };

export type ChartProps = {
  chart: ChartData;
  label: string;
  lit?: ReadonlySet<string>;
  /** How often each arrow was passed, by its index. */
  passed?: ReadonlyMap<number, number>;
  flash?: Flash | undefined;
  counts?: ReadonlyMap<string, number> | undefined;
  chosen?: string | undefined;
  onChoose?: ((path: string) => void) | undefined;
};

const NOTHING: ReadonlySet<string> = new Set();

const ChartOf = (props: ChartProps) => {
  const { chart, lit = NOTHING, passed = NONE, flash, counts, chosen, onChoose } = props;
  const heads = useId();
  return (
    <svg
      className={css.chart}
      viewBox={`0 0 ${chart.width} ${chart.height}`}
      role={onChoose ? 'group' : 'img'}
      aria-label={props.label}
    >
      <Heads id={heads} />
      {chart.states.map((state) => (
        <State
          key={state.path}
          state={state}
          isLit={lit.has(state.path)}
          isChosen={chosen === state.path}
          count={counts?.get(state.path)}
          onChoose={onChoose}
        />
      ))}
      {chart.starts.map(({ dot, points }) => (
        <g key={`${dot.x} ${dot.y}`} className={css.arrow}>
          <circle
            className={css.dot}
            cx={dot.x + dot.width / 2}
            cy={dot.y + dot.height / 2}
            r={dot.width / 2}
          />
          <path className={css.line} d={pathThrough(points)} markerEnd={`url(#${heads}-event)`} />
        </g>
      ))}
      {chart.arrows.map((arrow, index) => (
        <Arrow
          key={arrow.transitions.join(' ')}
          arrow={arrow}
          heads={heads}
          passed={passed.get(index) ?? 0}
          flash={flash?.arrow === index ? flash.nonce : 0}
        />
      ))}
      {flash && <Taken chart={chart} flash={flash} />}
    </svg>
  );
};

const hasSameCounts = (one: ChartProps['counts'], other: ChartProps['counts']): boolean =>
  one === other ||
  (one?.size === other?.size && [...(one ?? [])].every(([path, count]) => other?.get(path) === count));

/** Counts are made again after each change of any actor, but most charts show the same ones. */
export const Chart = memo(
  ChartOf,
  ({ counts: before, ...props }, { counts: now, ...next }) =>
    hasSameCounts(before, now) &&
    Object.entries(next).every(([key, value]) => Object.is(value, props[key as keyof typeof props])) &&
    Object.keys(props).length === Object.keys(next).length,
);
