import { type ReactNode, useState } from 'react';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Facts } from '../../design/Layout.tsx';
import { WholeJson } from '../../design/WholeJson.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Ticket } from '../../run-records/run.ts';
import { TicketContent } from '../../run-records/TicketContent.tsx';
import { definitionOf } from '../tools/tool.ts';
import { ArgumentsForm, TextForm } from './DecisionForm.tsx';
import { isOpenStill, type Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { texts } from './texts.ts';
import { asksFor, canEdit, type Open, type Wish } from './tickets.ts';

/** The arguments of a call, and the decision on it: in the inbox and on the page of a run. */

type Mode = 'deny' | 'edit' | undefined;

/** The state of a decision. Approval requires that the end of the arguments has been visible. */
export const useDecision = ({ ticket }: Open, onWish: (wish: Wish) => void) => {
  const [mode, setMode] = useState<Mode>();
  const [isSeen, setSeen] = useState(false);
  return {
    mode,
    setMode,
    isSeen,
    onSeen: () => setSeen(true),
    approve: () => (asksFor(ticket) === 'permission' ? onWish({ do: 'approve' }) : setMode('edit')),
    onWish: (wish: Wish) => {
      setMode(undefined);
      onWish(wish);
    },
  };
};

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
  if (typeof outcome === 'object') {
    return <Chip tone="error">{t('did.failed', { why: outcome.failed })}</Chip>;
  }
  const tone = { approved: 'success', answered: 'success', denied: 'warn', gone: 'none' } as const;
  return <Chip tone={tone[outcome]}>{t(`did.${outcome}`)}</Chip>;
};

const APPROVE = { permission: 'approve', answer: 'answer', arguments: 'edit.approve' } as const;

const Actions = (props: { ticket: Ticket; decision: ReturnType<typeof useDecision>; isClosed: boolean }) => {
  const t = useTexts(texts);
  const { ticket, decision, isClosed } = props;
  const asks = asksFor(ticket);
  return (
    <>
      <Button disabled={isClosed} data-testid="inbox-deny" onClick={() => decision.setMode('deny')}>
        {t('deny')}
      </Button>
      {asks === 'permission' && canEdit(ticket) && (
        <Button disabled={isClosed} onClick={() => decision.setMode('edit')}>
          {t('edit')}
        </Button>
      )}
      <Button
        tone="primary"
        disabled={isClosed || !decision.isSeen}
        title={decision.isSeen ? undefined : t('unseen')}
        data-testid="inbox-approve"
        onClick={decision.approve}
      >
        {t(APPROVE[asks])}
      </Button>
    </>
  );
};

export const Decision = (props: {
  open: Open;
  decision: ReturnType<typeof useDecision>;
  outcome: Outcome | undefined;
  isBusy: boolean;
  /** Heading of the arguments. */
  heading?: ReactNode;
  /** Called when a form is closed without a decision. */
  onBack?: () => void;
}) => {
  const t = useTexts(texts);
  const { open, decision, outcome } = props;
  const { mode } = decision;
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
      <section className={css.asked} aria-label={t('argumentsOf')}>
        {props.heading}
        <Arguments ticket={ticket} onSeen={decision.onSeen} />
      </section>
      <footer className={css.foot}>
        {mode === 'deny' && <TextForm {...form} isDenied />}
        {mode === 'edit' && asks === 'answer' && <TextForm {...form} isDenied={false} />}
        {mode === 'edit' && asks !== 'answer' && <ArgumentsForm {...form} schema={schema} />}
        {mode === undefined && <p className={css.quiet}>{t(`then.${asks}`)}</p>}
        <div className={css.actions}>
          {outcome !== undefined && <Did outcome={outcome} />}
          {mode === undefined && isOpenStill(outcome) && (
            <Actions ticket={ticket} decision={decision} isClosed={isClosed} />
          )}
        </div>
      </footer>
    </>
  );
};
