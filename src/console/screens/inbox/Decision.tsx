import { type ReactNode, useState } from 'react';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { useIdentity } from '../../data/identity.ts';
import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Facts } from '../../design/Layout.tsx';
import { WholeJson } from '../../design/WholeJson.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import type { Ticket } from '../../run-records/run.ts';
import { TicketContent } from '../../run-records/TicketContent.tsx';
import { definitionOf } from '../tools/tool.ts';
import { BudgetForm } from './BudgetForm.tsx';
import { ArgumentsForm, TextForm } from './DecisionForm.tsx';
import { isOpenStill, type Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { type Refusal, type Rights, rightsOn } from './rights.ts';
import texts from './texts.json' with { type: 'json' };
import { asksFor, canEdit, type Open, type Wish } from './tickets.ts';

/** The arguments of a call, and the decision on it: in the inbox and on the page of a run. */

type Mode = 'deny' | 'edit' | undefined;

/** The state of a decision. Approval requires that the end of the arguments has been visible. */
export const useDecision = (open: Open, onWish: (wish: Wish) => void) => {
  const { ticket } = open;
  const rights = rightsOn(open, useIdentity().data);
  const [mode, setMode] = useState<Mode>();
  const [isSeen, setSeen] = useState(false);
  return {
    mode,
    rights,
    /** Opens a form, unless the principal may not send it. */
    setMode: (next: Mode): void => {
      const isRefused =
        next === 'deny' ? rights.deny : next === 'edit' && (rights.approve || !mayEdit(ticket, rights));
      if (!isRefused) setMode(next);
    },
    isSeen,
    onSeen: () => setSeen(true),
    approve: (): void => {
      if (rights.approve || asksFor(ticket) === 'connection') return;
      if (asksFor(ticket) === 'permission') onWish({ do: 'approve' });
      else setMode('edit');
    },
    onWish: (wish: Wish) => {
      setMode(undefined);
      onWish(wish);
    },
  };
};

/** An answer needs no right to edit arguments. */
const mayEdit = (ticket: Ticket, { edits }: Rights): boolean =>
  asksFor(ticket) === 'permission' ? edits && canEdit(ticket) : true;

/** More arguments are shown as one value. */
const MOST_ARGUMENTS = 40;

/** The arguments by name. Everything is shown in full and unmasked, as in the content of other tickets. */
const Arguments = ({ ticket, onSeen }: { ticket: Ticket; onSeen: () => void }) => {
  const given = isObject(ticket.arguments) ? Object.entries(ticket.arguments) : [];
  if (ticket.tickets?.length || given.length === 0 || given.length > MOST_ARGUMENTS)
    return <TicketContent ticket={ticket} onSeen={onSeen} />;
  return (
    <>
      {asksFor(ticket) !== 'permission' && ticket.message !== undefined && (
        <p>{visibleText(ticket.message)}</p>
      )}
      <Facts
        rows={given.map(([name, value], place) => [
          visibleText(name),
          <WholeJson key={name} value={value} onSeen={place === given.length - 1 ? onSeen : undefined} />,
        ])}
      />
    </>
  );
};

/** The definition of a tool of the catalog; tools of clients and delegates have none. */
export const useTool = (id: string): { description: string; schema: JsonObject | undefined } => {
  const known = useResource(capabilities).data?.tools.find((tool) => tool.id === id);
  const definition = useResource(definitionOf(id), known !== undefined).data;
  return {
    description: definition?.description ?? known?.description ?? '',
    schema: definition?.parameters_schema,
  };
};

export const Did = ({ outcome }: { outcome: Outcome }) => {
  const t = useTexts(texts);
  if (typeof outcome === 'object' && 'goneBy' in outcome) {
    return <Chip>{t('did.goneBy', { user: outcome.goneBy })}</Chip>;
  }
  if (typeof outcome === 'object') {
    return <Chip tone="error">{t('did.failed', { why: outcome.failed })}</Chip>;
  }
  const tone = { approved: 'success', answered: 'success', denied: 'warn', gone: 'none' } as const;
  return <Chip tone={tone[outcome]}>{t(`did.${outcome}`)}</Chip>;
};

const APPROVE = {
  permission: 'approve',
  answer: 'answer',
  arguments: 'edit.approve',
  budget: 'budget.raise',
} as const;

/** Leads to the authorization server, by way of the screen that names what will be allowed. */
const ConnectButton = ({ ticket, disabled }: { ticket: Ticket; disabled: boolean }) => {
  const t = useTexts(texts);
  const go = useGo();
  const given = isObject(ticket.arguments) ? ticket.arguments : {};
  const connect = (): void => {
    const query = new URLSearchParams();
    for (const name of ['authorization', 'server'] as const) {
      if (typeof given[name] === 'string') query.set(name, given[name]);
    }
    if (Array.isArray(given.scopes)) query.set('scopes', given.scopes.join(' '));
    go(`/connections?${query}`);
  };
  return (
    <Button tone="primary" icon="connections" disabled={disabled} onClick={connect}>
      {t('connect')}
    </Button>
  );
};

const reasonOf = (t: Say<keyof typeof texts>, refusal: Refusal): string => {
  const tool = visibleText(refusal.tool);
  if ('needs' in refusal) return t('refused.needs', { tool, needs: refusal.needs });
  if ('notBy' in refusal) return t('refused.others', { tool, user: refusal.notBy });
  return refusal.by === undefined
    ? t('refused.byNone', { tool })
    : t('refused.by', { tool, user: refusal.by });
};

const Refused = ({ refusal }: { refusal: Refusal }) => {
  const t = useTexts(texts);
  return (
    <p className={`row tone nowrap ${css.refused}`} data-tone="warn">
      <Icon name="lock" />
      <span>{reasonOf(t, refusal)}</span>
    </p>
  );
};

const Actions = (props: { ticket: Ticket; decision: ReturnType<typeof useDecision>; isClosed: boolean }) => {
  const t = useTexts(texts);
  const { ticket, decision, isClosed } = props;
  const { rights } = decision;
  const asks = asksFor(ticket);
  return (
    <>
      <Button
        disabled={isClosed || rights.deny !== undefined}
        data-testid="inbox-deny"
        onClick={() => decision.setMode('deny')}
      >
        {t('deny')}
      </Button>
      {asks === 'permission' && mayEdit(ticket, rights) && (
        <Button disabled={isClosed || rights.approve !== undefined} onClick={() => decision.setMode('edit')}>
          {t('edit')}
        </Button>
      )}
      {asks === 'connection' ? (
        <ConnectButton ticket={ticket} disabled={isClosed || rights.approve !== undefined} />
      ) : (
        <Button
          tone="primary"
          disabled={isClosed || rights.approve !== undefined || !decision.isSeen}
          title={decision.isSeen ? undefined : t('common.unread')}
          data-testid="inbox-approve"
          onClick={decision.approve}
        >
          {t(APPROVE[asks])}
        </Button>
      )}
    </>
  );
};

export const Decision = (props: {
  open: Open;
  decision: ReturnType<typeof useDecision>;
  outcome: Outcome | undefined;
  isBusy: boolean;
  heading?: ReactNode;
  /** Called when a form is closed without a decision. */
  onBack?: () => void;
}) => {
  const t = useTexts(texts);
  const { open, decision, outcome } = props;
  const { mode, rights } = decision;
  const { ticket } = open;
  const isClosed = props.isBusy || !isOpenStill(outcome);
  const asks = asksFor(ticket);
  const { schema } = useTool(ticket.tool_name);
  const back = (): void => {
    decision.setMode(undefined);
    props.onBack?.();
  };
  const form = { open, disabled: isClosed, onWish: decision.onWish, onBack: back };
  return (
    <>
      <section className={`ruled section ${css.asked}`} aria-label={t('argumentsOf')}>
        {props.heading}
        <Arguments ticket={ticket} onSeen={decision.onSeen} />
      </section>
      <footer className={`ruled ${css.foot}`}>
        {mode === 'deny' && <TextForm {...form} isDenied />}
        {mode === 'edit' && asks === 'answer' && <TextForm {...form} isDenied={false} />}
        {mode === 'edit' && asks === 'budget' && <BudgetForm {...form} />}
        {mode === 'edit' && asks !== 'answer' && asks !== 'budget' && (
          <ArgumentsForm {...form} schema={schema} />
        )}
        {mode === undefined && !rights.approve && <p className="small">{t(`then.${asks}`)}</p>}
        {mode === undefined && rights.approve && <Refused refusal={rights.approve} />}
        <div className="row end">
          {outcome !== undefined && <Did outcome={outcome} />}
          {mode === undefined && isOpenStill(outcome) && (
            <Actions ticket={ticket} decision={decision} isClosed={isClosed} />
          )}
        </div>
      </footer>
    </>
  );
};
