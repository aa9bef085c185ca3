import { Page } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Actors } from '../../statechart/actors.ts';
import { machineNames, useCharts } from '../../statechart/charts.ts';
import type { Feed } from '../../statechart/feed.ts';
import { useFeed, useKnown } from '../../statechart/use-feed.ts';
import { Programs } from '../programs/Programs.tsx';
import { FeedChip } from './FeedChip.tsx';
import { MachineCard } from './MachineCard.tsx';
import css from './Statecharts.module.css';
import { texts } from './texts.ts';

/** All machines at once, each with who is in it. */

const Card = ({ name, feed, actors }: { name: string; feed: Feed | undefined; actors: Actors }) => {
  const charts = useCharts(name);
  return (
    <MachineCard
      name={name}
      machine={name}
      to={`/statecharts/${name}`}
      chart={charts?.levels[0]}
      states={charts?.levels.at(-1)?.states.length}
      feed={feed}
      actors={actors}
    />
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
      <Programs />
    </Page>
  );
};

export default Catalogue;
