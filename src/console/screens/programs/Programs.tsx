import { useResource } from '../../data/queries.ts';
import { Chip } from '../../design/Chip.tsx';
import { CopyButton } from '../../design/Copy.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import shared from '../../entry/Entry.module.css';
import { useTexts } from '../../i18n/locale.ts';
import type { Actors } from '../../live-charts/actors.ts';
import type { Feed } from '../../live-charts/feed.ts';
import { useFeed, useKnown } from '../../live-charts/use-feed.ts';
import { FeedChip } from '../statecharts/FeedChip.tsx';
import { MachineCard } from '../statecharts/MachineCard.tsx';
import wall from '../statecharts/Statecharts.module.css';
import css from './Programs.module.css';
import { exampleFor, type Program, placeOf, programList, useProgramChart, whyNoChart } from './programs.ts';
import texts from './texts.json' with { type: 'json' };

/** Other programs that report to this service, each with its machines and actors. */

const FLAG = '--inspection-addr 127.0.0.1:38081';
const VARIABLE = 'SERVICE_INSPECTION_ADDR=127.0.0.1:38081';

/** Instructions for reporting, including how to enable it. */
const HowTo = ({ url }: { url: string | null }) => {
  const t = useTexts(texts);
  const example = exampleFor(url ?? 'ws://127.0.0.1:38081');
  return (
    <div className={`${shared.box} narrow`}>
      <p>{url === null ? t('off') : t('none')}</p>
      {url === null && (
        <p>
          <code>{FLAG}</code> {t('common.or')} <code>{VARIABLE}</code> <CopyButton text={FLAG} />
        </p>
      )}
      <p className="quiet">
        {t('example')} <CopyButton text={example} />
      </p>
      <Scroller label={t('example')} className="frame">
        <pre>{example}</pre>
      </Scroller>
    </div>
  );
};

const Card = (props: {
  program: Program;
  machine: Program['machines'][number];
  feed: Feed | undefined;
  actors: Actors;
}) => {
  const t = useTexts(texts);
  const { program, machine, feed, actors } = props;
  const { data } = useProgramChart(program.id, machine.name);
  const key = `${program.id}/${machine.name}`;
  return (
    <MachineCard
      name={machine.name}
      machine={key}
      to={placeOf(key)}
      chart={data?.charts?.compact[0]}
      states={machine.states === 0 ? undefined : machine.states}
      feed={feed}
      actors={actors}
    >
      <p className="quiet">{whyNoChart(t, machine)}</p>
    </MachineCard>
  );
};

const One = ({ program, ...seen }: { program: Program; feed: Feed | undefined; actors: Actors }) => {
  const t = useTexts(texts);
  const { count, last } = program.refused;
  return (
    <section className="stack" aria-label={program.name}>
      <header className="row">
        <h3>
          <code>{program.name}</code>
        </h3>
        <Chip tone={program.connected ? 'success' : 'none'}>
          {program.connected ? t('connected') : t('gone')}
        </Chip>
        {count > 0 && <span className="quiet">{t('refused', { count, why: last ?? '' })}</span>}
      </header>
      <ul className={wall.cards}>
        {program.machines.map((machine) => (
          <Card key={machine.name} program={program} machine={machine} {...seen} />
        ))}
      </ul>
    </section>
  );
};

const Wall = ({ items }: { items: readonly Program[] }) => {
  const feed = useFeed({ elsewhere: true });
  const { actors, state } = useKnown(feed);
  return (
    <>
      <FeedChip state={state} />
      {items.map((program) => (
        <One key={program.id} program={program} feed={feed} actors={actors} />
      ))}
    </>
  );
};

export const Programs = () => {
  const t = useTexts(texts);
  const list = useResource(programList);
  return (
    <section className={css.programs} aria-label={t('title')} data-testid="programs">
      <h2 style={{ fontSize: 15 }}>{t('title')}</h2>
      <p className="quiet">{t('purpose')}</p>
      <Loaded query={list}>
        {({ url, items }) => (items.length === 0 ? <HowTo url={url} /> : <Wall items={items} />)}
      </Loaded>
    </section>
  );
};
