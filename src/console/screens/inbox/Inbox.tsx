import { useEffect, useMemo, useRef, useState } from 'react';
import { useIdentity } from '../../data/identity.ts';
import { useAtom } from '../../data/use-atom.ts';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useNow } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { TicketContent } from '../../run-records/TicketContent.tsx';
import { PAGE, waitsForDecision } from '../../run-records/waiting.ts';
import { DesktopNotices } from './DesktopNotices.tsx';
import { type Decisions, isOpenStill, sent, useDecisions, withThoseGone } from './decisions.ts';
import css from './Inbox.module.css';
import { rightsOn } from './rights.ts';
import { SentDecisions } from './Sent.tsx';
import { TicketItem } from './TicketItem.tsx';
import texts from './texts.json' with { type: 'json' };
import {
  alike,
  GROUPINGS,
  type Group,
  grouped,
  isAskedAgain,
  isLate,
  type Open,
  openTickets,
  type Wish,
  withThoseShown,
} from './tickets.ts';
import { useWaitingRuns } from './use-waiting-runs.ts';

/** Decides on all requests of a group. The dialog shows every call; approval requires that its end has been visible. */
const DecideAll = (props: { tickets: readonly Open[]; onDecide: (wish: Wish) => void }) => {
  const t = useTexts(texts);
  const { tickets, onDecide } = props;
  const [wish, ask] = useState<Wish>();
  const [isSeen, setSeen] = useState(false);
  const [first] = tickets;
  const values = { count: tickets.length, tool: visibleText(first?.ticket.tool_name ?? '') };
  const close = (): void => {
    ask(undefined);
    setSeen(false);
  };
  const approves = wish?.do === 'approve';
  return (
    <span className="row">
      <Button small tone="quiet" onClick={() => ask({ do: 'approve' })}>
        {t('all', values)}
      </Button>
      <Button small tone="quiet" onClick={() => ask({ do: 'deny', reason: '' })}>
        {t('all.deny', values)}
      </Button>
      {wish && (
        <ConfirmDialog
          title={t('all.title', values)}
          confirm={t(approves ? 'all.approve' : 'all.refuse')}
          tone={approves ? 'primary' : 'danger'}
          unready={approves && !isSeen ? t('common.unread') : undefined}
          size={640}
          onConfirm={() => {
            onDecide(wish);
            close();
          }}
          onClose={close}
        >
          <p>{t('all.text')}</p>
          <ol className="stack" style={{ paddingLeft: 20 }}>
            {tickets.map(({ key, ticket, user }, at) => (
              <li key={key}>
                {user !== undefined && <p className="small">{t('for.user', { user })}</p>}
                <TicketContent
                  ticket={ticket}
                  onSeen={at === tickets.length - 1 ? () => setSeen(true) : undefined}
                />
              </li>
            ))}
          </ol>
        </ConfirmDialog>
      )}
    </span>
  );
};

/** How long decided tickets stay in place, so that nothing moves under the pointer during a double click. */
const STAY_MS = 1000;

/** The open tickets, together with those decided within the last second, which keep their position. */
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

/** The selected ticket. After it has disappeared, its successor is selected, and gets the focus that was lost. */
const useSelection = (order: readonly Open[], list: { current: HTMLElement | null }) => {
  const [chosen, choose] = useState({ key: '', next: '' });
  const find = (wanted: string): Open | undefined => order.find(({ key }) => key === wanted);
  const selected = (find(chosen.key) ?? find(chosen.next) ?? order[0])?.key ?? '';
  const before = useRef(selected);
  useEffect(() => {
    const isLost = before.current !== '' && document.activeElement === document.body;
    if (before.current !== selected && isLost)
      list.current?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true });
    before.current = selected;
  }, [selected, list]);
  return {
    selected,
    select: (wanted: string): void => {
      const at = order.findIndex(({ key }) => key === wanted);
      choose({ key: wanted, next: (order[at + 1] ?? order[at - 1])?.key ?? '' });
    },
  };
};

const Tickets = (props: {
  groups: readonly Group[];
  tickets: readonly Open[];
  shown: readonly Open[];
  decisions: Decisions;
}) => {
  const { groups, tickets, shown, decisions } = props;
  const now = useNow();
  const who = useIdentity().data;
  const decided = useAtom(sent);
  const list = useRef<HTMLDivElement>(null);
  const { selected, select } = useSelection(
    useMemo(() => groups.flatMap((group) => group.tickets), [groups]),
    list,
  );
  const outcomes = useMemo(
    () => withThoseGone(decisions.outcomes, shown, tickets),
    [decisions.outcomes, shown, tickets],
  );
  return (
    <div className={css.panes}>
      <div className={`card ${css.list}`} ref={list}>
        {groups.map(({ name, tickets: members }) => {
          const requests = alike(
            members.filter((open) => isOpenStill(outcomes.get(open.key)) && !rightsOn(open, who).approve),
          );
          return (
            <section key={name} aria-label={name || undefined}>
              {name !== '' && (
                <header className={`bar spread ${css.group}`}>
                  <h2>
                    {visibleText(name)} <span>{members.length}</span>
                  </h2>
                  {requests.length > 0 && (
                    <DecideAll
                      tickets={requests}
                      onDecide={(wish) => void decisions.decide(wish, requests)}
                    />
                  )}
                </header>
              )}
              <ul>
                {members.map((open) => {
                  const outcome = outcomes.get(open.key);
                  return (
                    <TicketItem
                      key={open.key}
                      open={open}
                      isSelected={open.key === selected}
                      isLate={isLate(open, now)}
                      isAgain={isAskedAgain(open, decided)}
                      outcome={outcome === 'busy' ? undefined : outcome}
                      isBusy={outcome === 'busy'}
                      onSelect={() => select(open.key)}
                      onWish={(wish) => void decisions.decide(wish, [open])}
                    />
                  );
                })}
              </ul>
            </section>
          );
        })}
        <SentDecisions tickets={tickets} />
      </div>
    </div>
  );
};

export default function Inbox() {
  const t = useTexts(texts);
  const format = useFormat();
  const [address, setQuery] = useQueryState();
  const [pages, setPages] = useState(1);
  const query = useWaitingRuns(pages);
  const decisions = useDecisions();
  const { items = [], total = 0 } = query.data ?? {};
  const tickets = useMemo(() => openTickets(query.data?.items ?? []), [query.data]);
  const by = GROUPINGS.find((each) => each === address.group) ?? 'tool';
  const shown = useStaying(tickets);
  const groups = useMemo(() => grouped(shown, by), [shown, by]);
  const others = items.filter((run) => !waitsForDecision(run)).length;
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(tickets.length)}
      purpose={t('purpose')}
      actions={<DesktopNotices count={tickets.length} />}
    >
      {shown.length > 0 && (
        <div className="row">
          <Segmented
            label={t('group')}
            isLabelShown
            value={by}
            options={GROUPINGS.map((each) => [each, t(`group.${each}`)] as const)}
            onChange={(to) => setQuery({ group: to === 'tool' ? undefined : to })}
          />
          <span className={`quiet push ${css.keys}`}>{t('keys')}</span>
        </div>
      )}
      <Loaded query={query}>
        {() =>
          shown.length === 0 ? (
            <>
              <EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>
              <SentDecisions tickets={tickets} />
            </>
          ) : (
            <Tickets groups={groups} tickets={tickets} shown={shown} decisions={decisions} />
          )
        }
      </Loaded>
      {total > items.length && (
        <p className="small">
          {t('older', { shown: format.number(items.length), count: total })}{' '}
          <Button small onClick={() => setPages(Math.ceil(items.length / PAGE) + 1)}>
            {t('older.more', { count: Math.min(PAGE, total - items.length) })}
          </Button>
        </p>
      )}
      {others > 0 && <p className="small">{t('others', { count: others })}</p>}
    </Page>
  );
}
