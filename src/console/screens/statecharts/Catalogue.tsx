import { Page } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Actors } from '../../live-charts/actors.ts';
import { machineNames, useCharts } from '../../live-charts/charts.ts';
import type { Feed } from '../../live-charts/feed.ts';
import { useFeed, useKnown } from '../../live-charts/use-feed.ts';
import { Programs } from '../programs/Programs.tsx';
import { FeedChip } from './FeedChip.tsx';
import { MachineCard } from './MachineCard.tsx';
import css from './Statecharts.module.css';
import texts from './texts.json' with { type: 'json' };

/** All machines, each with its actors. */

const Card = ({ name, feed, actors }: { name: string; feed: Feed | undefined; actors: Actors }) => {
  const charts = useCharts(name);
  return (
    <MachineCard
      name={name}
      machine={name}
      to={`/statecharts/${name}`}
      chart={charts?.compact[0]}
      states={charts?.levels.at(-1)?.states.length}
      feed={feed}
      actors={actors}
    />
  );
};

export default function Catalogue() {
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
}
