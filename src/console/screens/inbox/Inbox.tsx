import { useEffect, useMemo, useState } from 'react';
import { invalidate, useResource } from '../../data/queries.ts';
import { runsSummary } from '../../data/resources.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useNow } from '../../design/Time.tsx';
import { say, useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { newestRuns } from '../../runs/pages.ts';
import { TicketContent } from '../../runs/TicketContent.tsx';
import { useMoved } from '../../runs/use-moved.ts';
import { toast } from '../../shell/toasts.ts';
import type { Frame } from '../../statechart/actors.ts';
import { Card } from './Card.tsx';
import { DesktopNotices, mayTell } from './DesktopNotices.tsx';
import { fulfil, fulfilAll, type Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { texts } from './texts.ts';
import {
  alike,
  GROUPINGS,
  type Group,
  grouped,
  isLate,
  type Open,
  openTickets,
  type Wish,
  withThoseShown,
} from './tickets.ts';

/** Whoever has more open questions has another problem; they come as the first of these are decided. */
const MOST = 2000;

/** Where nobody tells that something has moved. */
const LOOK_MS = 3000;

/** Into a wait, or out of one. */
const concernsWaits = (frame: Frame): boolean => {
  if ('live' in frame) return frame.live.state.startsWith('waiting');
  if (frame.type === 'ended') return true;
  return frame.from.startsWith('waiting') || frame.to.startsWith('waiting');
};

/** Nothing moves under the pointer of who clicks twice. */
const STAY_MS = 1000;

/** What is open and, where they were, those that have just been decided. */
const useStaying = (open: readonly Open[]): readonly Open[] => {
  const [seen, see] = useState({ open, shown: open });
  if (seen.open !== open) see({ open, shown: withThoseShown(seen.shown, open) });
  useEffect(() => {
    if (seen.shown === seen.open) return undefined;
    const timer = setTimeout(() => see({ open: seen.open, shown: seen.open }), STAY_MS);
    return () => clearTimeout(timer);
  }, [seen]);
  return seen.shown;
};

type Outcomes = ReadonlyMap<string, Outcome | 'busy'>;

/** A card goes as soon as its run goes on: what became of it is said beside. */
const tell = (outcomes: readonly Outcome[]): void => {
  const count = (kind: string): number => outcomes.filter((outcome) => outcome === kind).length;
  const said = (['approved', 'answered', 'denied', 'gone'] as const).flatMap((kind) =>
    count(kind) > 0 ? [`${say(texts, `did.${kind}`)}${outcomes.length > 1 ? `: ${count(kind)}` : ''}`] : [],
  );
  if (said.length > 0) toast(count('gone') > 0 ? 'info' : 'success', said.join(' · '));
};

const useDecisions = () => {
  const [outcomes, setOutcomes] = useState<Outcomes>(new Map());
  const note = (open: Open, outcome: Outcome | 'busy'): void =>
    setOutcomes((before) => new Map(before).set(open.key, outcome));
  const settled = (): void => invalidate('/v1/runs');
  return {
    outcomes,
    async one(wish: Wish, open: Open): Promise<void> {
      note(open, 'busy');
      const outcome = await fulfil(wish, open);
      note(open, outcome);
      tell([outcome]);
      settled();
    },
    async all(wish: Wish, tickets: readonly Open[]): Promise<void> {
      for (const open of tickets) note(open, 'busy');
      tell(await fulfilAll(wish, tickets, note));
      settled();
    },
  };
};

const isOpenStill = (outcome: Outcome | 'busy' | undefined): boolean =>
  outcome === undefined || (typeof outcome === 'object' && 'failed' in outcome);

/** Of a call that has left without a decision from here, somebody else has decided. */
const withThoseGone = (outcomes: Outcomes, shown: readonly Open[], open: readonly Open[]): Outcomes => {
  const known = new Set(open.map(({ key }) => key));
  const gone = shown.filter(({ key }) => !known.has(key) && isOpenStill(outcomes.get(key)));
  return new Map([...outcomes, ...gone.map(({ key }) => [key, 'gone'] as const)]);
};

/** Lists every call whole: approving all of them needs the end of the list to have been on the screen. */
const DecideAll = ({
  tool,
  tickets,
  wish,
  onConfirm,
  onClose,
}: {
  tool: string;
  tickets: readonly Open[];
  wish: Wish;
  onConfirm: () => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const [isSeen, setSeen] = useState(false);
  const approves = wish.do === 'approve';
  return (
    <ConfirmDialog
      title={t('all.title', { count: tickets.length, tool })}
      confirm={t(approves ? 'all.approve' : 'all.refuse')}
      tone={approves ? 'primary' : 'danger'}
      unready={approves && !isSeen ? t('unseen') : undefined}
      size={640}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t('all.text')}</p>
      <ol className={css.asked}>
        {tickets.map(({ key, ticket }, at) => (
          <li key={key}>
            <TicketContent
              ticket={ticket}
              onSeen={at === tickets.length - 1 ? () => setSeen(true) : undefined}
            />
          </li>
        ))}
      </ol>
    </ConfirmDialog>
  );
};

const Bulk = ({
  tickets,
  outcomes,
  onDecide,
}: {
  tickets: readonly Open[];
  outcomes: Outcomes;
  onDecide: (wish: Wish, tickets: readonly Open[]) => void;
}) => {
  const t = useTexts(texts);
  const [asked, ask] = useState<{ tool: string; tickets: readonly Open[]; wish: Wish }>();
  const groups = alike(tickets).map(({ tool, tickets: members }) => ({
    tool,
    tickets: members.filter(({ key }) => isOpenStill(outcomes.get(key))),
  }));
  if (groups.length === 0) return null;
  return (
    <div className={css.bulk}>
      {groups.slice(0, 4).map(({ tool, tickets: members }) => (
        <span key={tool} className={css.pair}>
          <Button
            small
            disabled={members.length === 0}
            onClick={() => ask({ tool, tickets: members, wish: { do: 'approve' } })}
          >
            {t('all', { count: members.length, tool })}
          </Button>
          <Button
            small
            tone="quiet"
            disabled={members.length === 0}
            onClick={() => ask({ tool, tickets: members, wish: { do: 'deny', reason: '' } })}
          >
            {t('all.deny', { count: members.length })}
          </Button>
        </span>
      ))}
      {asked && (
        <DecideAll
          {...asked}
          onConfirm={() => {
            onDecide(asked.wish, asked.tickets);
            ask(undefined);
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </div>
  );
};

const Cards = ({
  groups,
  outcomes,
  onWish,
}: {
  groups: readonly Group[];
  outcomes: Outcomes;
  onWish: (wish: Wish, open: Open) => void;
}) => {
  const now = useNow();
  return groups.map(({ name, tickets }) => (
    <section key={name} className={css.group} aria-label={name || undefined}>
      {name !== '' && (
        <h2>
          {name} <span>{tickets.length}</span>
        </h2>
      )}
      <ul className={css.cards}>
        {tickets.map((open) => {
          const outcome = outcomes.get(open.key);
          return (
            <Card
              key={open.key}
              open={open}
              late={isLate(open, now)}
              outcome={outcome === 'busy' ? undefined : outcome}
              busy={outcome === 'busy'}
              onWish={(wish) => onWish(wish, open)}
            />
          );
        })}
      </ul>
    </section>
  ));
};

export default function Inbox() {
  const t = useTexts(texts);
  const format = useFormat();
  const [address, setQuery] = useQueryState();
  const [isTold, setTold] = useState(true);
  const query = useResource({
    ...newestRuns({ status: 'waiting' }, MOST, isTold ? undefined : LOOK_MS),
    unseen: mayTell(),
  });
  const told = useMoved(
    { machine: 'run' },
    () => {
      invalidate(runsSummary.path);
      void query.refetch();
    },
    concernsWaits,
  );
  if (told !== isTold) setTold(told);
  const decisions = useDecisions();
  const tickets = useMemo(() => openTickets(query.data?.items ?? []), [query.data]);
  const by = GROUPINGS.find((each) => each === address.group) ?? 'none';
  const shown = useStaying(tickets);
  const groups = useMemo(() => grouped(shown, by), [shown, by]);
  const outcomes = useMemo(
    () => withThoseGone(decisions.outcomes, shown, tickets),
    [decisions.outcomes, shown, tickets],
  );
  const others = (query.data?.items ?? []).filter(({ waiting }) => !waiting?.tickets.length).length;
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(tickets.length)}
      purpose={t('purpose')}
      actions={<DesktopNotices count={tickets.length} />}
    >
      {shown.length > 0 && (
        <div className={css.bar}>
          <Segmented
            label={t('group')}
            isLabelShown
            value={by}
            options={GROUPINGS.map((each) => [each, t(`group.${each}`)] as const)}
            onChange={(to) => setQuery({ group: to === 'none' ? undefined : to })}
          />
          <Bulk
            tickets={shown}
            outcomes={outcomes}
            onDecide={(wish, members) => void decisions.all(wish, members)}
          />
          <span className={css.keys}>{t('keys')}</span>
        </div>
      )}
      <Loaded query={query}>
        {() =>
          shown.length === 0 ? (
            <EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>
          ) : (
            <Cards
              groups={groups}
              outcomes={outcomes}
              onWish={(wish, open) => void decisions.one(wish, open)}
            />
          )
        }
      </Loaded>
      {others > 0 && <p className={css.quiet}>{t('others', { count: others })}</p>}
    </Page>
  );
}
