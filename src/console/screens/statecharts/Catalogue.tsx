import { useMemo } from 'react';
import type { Chart as ChartData } from '../../../schema/chart.ts';
import { Page } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { type Actors, countByState } from '../../statechart/actors.ts';
import { Chart } from '../../statechart/Chart.tsx';
import { machineNames, useCharts } from '../../statechart/charts.ts';
import { Dots } from '../../statechart/Dots.tsx';
import type { Feed } from '../../statechart/feed.ts';
import { useFeed, useKnown } from '../../statechart/use-feed.ts';
import { FeedChip } from './FeedChip.tsx';
import css from './Statecharts.module.css';
import { texts } from './texts.ts';

/** All machines at once, each with who is in it. */

/** What a card has for its chart, in pixels. */
const CHART_HEIGHT = 200;

/** Those of one machine, kept apart while they are the same. */
const ofMachine = ({ live }: Actors, name: string): Actors => ({
  live: new Map([...live].filter(([, { machine }]) => machine === name)),
  ended: new Map(),
});

/** As large as its card has room for, and no larger than it is drawn. */
const sheetOf = ({ width, height }: ChartData) => ({
  aspectRatio: `${width} / ${height}`,
  width: `min(100%, ${(CHART_HEIGHT * width) / height}px, ${width}px)`,
});

const noChoice = (): void => {};

const Card = ({ name, feed, actors }: { name: string; feed: Feed | undefined; actors: Actors }) => {
  const t = useTexts(texts);
  const charts = useCharts(name);
  const chart = charts?.levels[0];
  const own = useMemo(() => ofMachine(actors, name), [actors, name]);
  const counts = useMemo(() => countByState(own), [own]);
  const whole = charts?.levels.at(-1)?.states.length;
  return (
    <li className={css.card}>
      <ScreenLink to={`/statecharts/${name}`} className={css.cardLink}>
        <code className={css.cardName}>{name}</code>
      </ScreenLink>
      <span className={css.cardFacts}>
        {t('live', { count: own.live.size })}
        {whole !== undefined && ` · ${t('states', { count: whole })}`}
      </span>
      <div className={css.cardChart}>
        {chart && (
          <div className={css.cardSheet} style={sheetOf(chart)}>
            <Chart chart={chart} label={name} isSmall counts={counts} />
            {feed && <Dots chart={chart} feed={feed} machine={name} chosen={undefined} onChoose={noChoice} />}
          </div>
        )}
      </div>
    </li>
  );
};

const Catalogue = () => {
  const t = useTexts(texts);
  const feed = useFeed({});
  const { actors, state } = useKnown(feed);
  return (
    <Page title={t('title')} purpose={t('purpose')} actions={<FeedChip state={state} />}>
      <ul className={css.cards}>
        {machineNames.map((name) => (
          <Card key={name} name={name} feed={feed} actors={actors} />
        ))}
      </ul>
    </Page>
  );
};

export default Catalogue;
