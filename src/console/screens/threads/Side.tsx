import { useResource } from '../../data/queries.ts';
import { Json } from '../../design/Json.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import type { LogEvent } from '../../event-log/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { RunChip, RunLink, RunReason, shortId } from '../../run-records/RunChip.tsx';
import { type Run, threadHref } from '../../run-records/run.ts';
import { gistOf } from '../run-detail/gist.ts';
import { type Fork, treeOf } from './fork-tree.ts';
import { Mailbox } from './Mailbox.tsx';
import css from './Threads.module.css';
import texts from './texts.json' with { type: 'json' };
import { forksOf, MOST_CHILDREN, type Thread } from './thread.ts';

/** Levels beyond this one are not indented further. */
const DEEPEST = 8;

const Row = ({ fork: { thread, depth }, current }: { fork: Fork; current: string }) => {
  const t = useTexts(texts);
  const { id, title, preview, agent_id, forked_from, updated_at } = thread;
  const isCurrent = id === current;
  return (
    <li
      className="item"
      aria-current={isCurrent || undefined}
      style={{ paddingInlineStart: 14 + Math.min(depth, DEEPEST) * 18 }}
    >
      <span className="cut" style={{ flex: '0 1 auto' }} dir="auto">
        <ScreenLink to={threadHref(id)} title={id}>
          {title ?? preview ?? <code>{shortId(id)}</code>}
        </ScreenLink>
      </span>
      <span className="quiet">
        {[
          isCurrent && t('lineage.this'),
          forked_from && t('lineage.forked', { seq: forked_from.seq }),
          agent_id,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <span className="quiet push">
        <Ago at={updated_at} />
      </span>
    </li>
  );
};

/** The threads that this one comes from, those that come from it, and the others of its resource, such as a chat. */
const Forks = ({ thread }: { thread: Thread }) => {
  const t = useTexts(texts);
  const query = useResource(forksOf(thread));
  return (
    <Loaded query={query}>
      {(found) => {
        const forks = treeOf(found);
        if (forks.length <= 1) return <EmptyState title={t('tab.lineage')}>{t('lineage.none')}</EmptyState>;
        return (
          <>
            {found.length >= MOST_CHILDREN && (
              <Notice plain title={t('lineage.cut', { count: MOST_CHILDREN })} />
            )}
            <ul className="divided">
              {forks.map((fork) => (
                <Row key={fork.thread.id} fork={fork} current={thread.id} />
              ))}
            </ul>
          </>
        );
      }}
    </Loaded>
  );
};

export const TABS = ['runs', 'mailbox', 'events', 'lineage', 'metadata'] as const;
type Tab = (typeof TABS)[number];

const Runs = ({ runs }: { runs: readonly Run[] }) => (
  <ul className="divided">
    {runs.map((run) => (
      <li key={run.run_id} className="item">
        <RunLink id={run.run_id} />
        <RunChip run={run} />
        <span className="grow">
          <RunReason run={run} />
        </span>
        <Ago at={run.started_at ?? run.created_at} />
      </li>
    ))}
  </ul>
);

/** Maximum number of events shown for a thread, newest first; the screen of a run shows all of its events. */
const MOST_EVENTS = 500;

const Events = ({ events }: { events: readonly LogEvent[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (events.length === 0) return <EmptyState title={t('events.none')}>{null}</EmptyState>;
  return (
    <>
      {events.length > MOST_EVENTS && (
        <p className={`quiet inset small ${css.part}`}>
          {t('events.older', { count: format.number(MOST_EVENTS) })}
        </p>
      )}
      <ol className={`${css.events} divided`}>
        {events
          .slice(-MOST_EVENTS)
          .reverse()
          .map((event) => (
            <li key={event.event_id} className="item">
              <time className="quiet">{format.clock(event.created_at)}</time>
              <code>{event.event_kind}</code>
              <span className="cut">{gistOf(event)}</span>
            </li>
          ))}
      </ol>
    </>
  );
};

export const Side = (props: { thread: Thread; runs: readonly Run[]; events: readonly LogEvent[] }) => {
  const { thread, runs, events } = props;
  const t = useTexts(texts);
  const [address, setQuery] = useQueryState();
  const tab: Tab = TABS.find((each) => each === address.tab) ?? 'runs';
  return (
    <section className={`card column clip ${css.side}`}>
      <div className="tabs" role="tablist" aria-label={t('tabs')}>
        {TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls={each === tab ? `panel-${each}` : undefined}
            onClick={() => setQuery({ tab: each === 'runs' ? undefined : each })}
          >
            {t(`tab.${each}`)}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} className="scrolls">
        {tab === 'runs' && <Runs runs={runs} />}
        {tab === 'mailbox' && <Mailbox threadId={thread.id} />}
        {tab === 'events' && <Events events={events} />}
        {tab === 'lineage' && <Forks thread={thread} />}
        {tab === 'metadata' && (
          <div className={`inset small ${css.part}`}>
            <Json value={thread} label={t('meta.title')} />
          </div>
        )}
      </div>
    </section>
  );
};
