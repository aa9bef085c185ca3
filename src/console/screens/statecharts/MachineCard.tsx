import { type ReactNode, useMemo } from 'react';
import type { Chart as ChartData } from '../../../schema/chart.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { type Actors, countByState } from '../../statechart/actors.ts';
import { Chart } from '../../statechart/Chart.tsx';
import { Dots } from '../../statechart/Dots.tsx';
import type { Feed } from '../../statechart/feed.ts';
import css from './Statecharts.module.css';
import { texts } from './texts.ts';

/** One machine of a wall, with who is in it. */

/** What a card has for its chart, in pixels. */
const CHART_HEIGHT = 200;

/** Those of one machine, kept apart while they are the same. */
const ofMachine = ({ live }: Actors, machine: string): Actors => ({
  live: new Map([...live].filter(([, actor]) => actor.machine === machine)),
  ended: new Map(),
});

/** As large as its card has room for, and no larger than it is drawn. */
const sheetOf = ({ width, height }: ChartData) => ({
  aspectRatio: `${width} / ${height}`,
  width: `min(100%, ${(CHART_HEIGHT * width) / height}px, ${width}px)`,
});

const noChoice = (): void => {};

export const MachineCard = (props: {
  name: string;
  /** As frames call it. */
  machine: string;
  to: string;
  chart: ChartData | undefined;
  states: number | undefined;
  feed: Feed | undefined;
  actors: Actors;
  /** In place of a chart. */
  children?: ReactNode;
}) => {
  const t = useTexts(texts);
  const { name, machine, chart, states, feed, actors } = props;
  const own = useMemo(() => ofMachine(actors, machine), [actors, machine]);
  const counts = useMemo(() => countByState(own), [own]);
  return (
    <li className={css.card}>
      <ScreenLink to={props.to} className={css.cardLink}>
        <code className={css.cardName}>{name}</code>
      </ScreenLink>
      <span className={css.cardFacts}>
        {t('live', { count: own.live.size })}
        {states !== undefined && ` · ${t('states', { count: states })}`}
      </span>
      <div className={css.cardChart}>
        {chart ? (
          <div className={css.cardSheet} style={sheetOf(chart)}>
            <Chart chart={chart} label={name} isSmall counts={counts} />
            {feed && (
              <Dots chart={chart} feed={feed} machine={machine} chosen={undefined} onChoose={noChoice} />
            )}
          </div>
        ) : (
          props.children
        )}
      </div>
    </li>
  );
};
