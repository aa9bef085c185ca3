import type { Chart } from '../../../schema/chart.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { Actors } from '../../live-charts/actors.ts';
import type { Mark } from '../../live-charts/marks.ts';
import { markByState } from '../../live-charts/painter.ts';
import runTexts from '../../run-records/texts.json' with { type: 'json' };
import css from './Statecharts.module.css';
import texts from './texts.json' with { type: 'json' };
import { type Marks, OTHER_AGENTS } from './use-marks.ts';
import type { RunWords } from './use-run-words.ts';

/** The dot of a mark, as the chart draws it. */
export const Swatch = ({ mark: { color, corners } }: { mark: Mark }) => (
  <svg viewBox="-5 -5 10 10" width={10} height={10} aria-hidden="true" fill={`var(${color})`}>
    {corners.length === 0 ? <circle r={3.6} /> : <polygon points={corners.join(' ')} />}
  </svg>
);

const OUTCOMES = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

type Row = readonly [name: string, mark: Mark];

const agentRows = (
  { live }: Actors,
  words: ReadonlyMap<string, RunWords>,
  { byAgent }: Marks,
  other: string,
): Row[] => {
  const known = Array.from(words).filter(([id]) => live.has(id));
  const agents = new Set(known.map(([, { agent }]) => agent));
  const rows = Array.from(byAgent).filter(([agent]) => agents.has(agent));
  return live.size > known.length ? [...rows, [other, OTHER_AGENTS]] : rows;
};

/** The names of the colors of the dots: agents if there are `marks`, otherwise outcomes. */
export const Legend = (props: {
  chart: Chart;
  actors: Actors;
  words: ReadonlyMap<string, RunWords>;
  marks: Marks | undefined;
}) => {
  const t = useTexts(texts);
  const say = useTexts(runTexts);
  const { chart, actors, words, marks } = props;
  const tints = new Set(chart.states.map(({ tint }) => tint));
  const rows: readonly Row[] = marks
    ? agentRows(actors, words, marks, t('legend.other'))
    : OUTCOMES.filter((each) => tints.has(each)).map(
        (tint) => [say(`state.${tint}`), markByState({ tint })] as const,
      );
  return (
    <ul className={`row small ruled fixed ${css.legend}`} aria-label={t('legend')}>
      {rows.map(([name, mark]) => (
        <li key={name} data-mark={mark.color}>
          <Swatch mark={mark} />
          {name}
        </li>
      ))}
    </ul>
  );
};
