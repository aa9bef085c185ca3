import { type KeyboardEvent, useRef, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Field } from '../../design/Field.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { RunLink, shortId } from '../../runs/RunChip.tsx';
import { threadHref } from '../../runs/run.ts';
import { TicketContent } from '../../runs/TicketContent.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import type { Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { texts } from './texts.ts';
import { asksFor, type Open, type Wish, wishOf } from './tickets.ts';

const Did = ({ outcome }: { outcome: Outcome }) => {
  const t = useTexts(texts);
  if (typeof outcome === 'object') {
    return <Chip tone="error">{t('did.failed', { why: outcome.failed })}</Chip>;
  }
  const tone = { approved: 'success', answered: 'success', denied: 'warn', gone: 'none' } as const;
  return <Chip tone={tone[outcome]}>{t(`did.${outcome}`)}</Chip>;
};

type Mode = 'deny' | 'answer' | undefined;

const Form = ({
  mode,
  open,
  disabled,
  onWish,
  onBack,
}: {
  mode: NonNullable<Mode>;
  open: Open;
  disabled: boolean;
  onWish: (wish: Wish) => void;
  onBack: () => void;
}) => {
  const t = useTexts(texts);
  const asks = asksFor(open.ticket);
  const [typed, setTyped] = useState(
    mode === 'answer' && asks === 'arguments' ? JSON.stringify(open.ticket.arguments ?? {}, null, 2) : '',
  );
  const [problem, setProblem] = useState<string>();
  const submit = (): void => {
    const read = wishOf(typed, { isDenied: mode === 'deny', asks });
    if ('wish' in read) onWish(read.wish);
    else setProblem(t(read.problem));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onBack();
    else if (event.key !== 'Enter' || (mode === 'answer' && !event.ctrlKey && !event.metaKey)) return;
    else submit();
    event.preventDefault();
  };
  const change = (to: string): void => {
    setTyped(to);
    setProblem(undefined);
  };
  const label = mode === 'deny' ? t('why') : t(asks === 'arguments' ? 'arguments.text' : 'answer.text');
  const rows = { permission: 1, answer: 3, arguments: 6 }[asks];
  return (
    <fieldset className={css.form} disabled={disabled}>
      <Field label={label} error={problem}>
        {(control) => (
          <textarea
            {...control}
            rows={mode === 'deny' ? 1 : rows}
            ref={focus}
            value={typed}
            onKeyDown={onKeyDown}
            onChange={(event) => change(event.target.value)}
          />
        )}
      </Field>
      <div className={css.actions}>
        <Button small onClick={onBack}>
          {t('back')}
        </Button>
        <Button small tone={mode === 'deny' ? 'danger' : 'primary'} onClick={submit}>
          {t(mode === 'deny' ? 'deny' : 'answer')}
        </Button>
      </div>
    </fieldset>
  );
};

const lastEnd = (card: HTMLElement): Element | undefined =>
  Array.from(card.querySelectorAll('[data-end]')).at(-1);

const focus = (element: HTMLElement | null): void => element?.focus();

/** To the next that is open, or else to the one before: this one goes. Under a pointer nothing scrolls. */
const focusAnother = (card: HTMLElement, preventScroll: boolean): void => {
  const cards = Array.from(document.querySelectorAll<HTMLElement>('[data-row]'));
  const at = cards.indexOf(card);
  (cards[at + 1] ?? cards[at - 1])?.focus({ preventScroll });
};

/**
 * One question. The keys a, d and e work on the card that has the focus. Approval needs the end of the arguments to have
 * been on the screen. A decided card keeps its height, so that a double click decides nothing else.
 */
export const Card = ({
  open,
  late,
  outcome,
  busy,
  onWish,
}: {
  open: Open;
  late: boolean;
  outcome: Outcome | undefined;
  busy: boolean;
  onWish: (wish: Wish) => void;
}) => {
  const t = useTexts(texts);
  const [mode, setMode] = useState<Mode>();
  const [isSeen, setSeen] = useState(false);
  const card = useRef<HTMLLIElement>(null);
  const isPointed = useRef(false);
  const { ticket, runId, threadId, agentId } = open;
  const asks = asksFor(ticket);
  const isOver = outcome !== undefined && typeof outcome !== 'object';
  const isClosed = busy || isOver;
  const decide = (wish: Wish): void => {
    if (card.current) focusAnother(card.current, isPointed.current);
    onWish(wish);
  };
  const back = (): void => {
    setMode(undefined);
    card.current?.focus();
  };
  const approve = (): void => {
    if (!isSeen) card.current && lastEnd(card.current)?.scrollIntoView({ block: 'nearest' });
    else if (asks === 'permission') decide({ do: 'approve' });
    else setMode('answer');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isClosed || event.repeat) return;
    if (event.key === 'a') approve();
    else if (event.key === 'd') setMode('deny');
    else if (event.key === 'e' && asks !== 'permission') setMode('answer');
    else return;
    event.preventDefault();
  };
  return (
    <li
      className={css.card}
      ref={card}
      data-row={isOver ? undefined : true}
      data-testid={`inbox-card-${ticket.tool_call_id}`}
      data-over={isOver || undefined}
      tabIndex={-1}
      onPointerDown={() => {
        isPointed.current = true;
      }}
      onKeyDownCapture={() => {
        isPointed.current = false;
      }}
      onKeyDown={onKeyDown}
    >
      <div className={css.head}>
        <strong className={css.tool}>{ticket.tool_name}</strong>
        <ScreenLink to={`/agents/${encodeURIComponent(agentId)}`}>{agentId}</ScreenLink>
        <span className={css.quiet}>{t(`asks.${asks}`)}</span>
        <span className={css.age} data-late={late || undefined}>
          <Ago at={ticket.updated_at} />
        </span>
      </div>
      <TicketContent ticket={ticket} onSeen={() => setSeen(true)} />
      <div className={css.foot}>
        <span className={css.quiet}>
          {t('run')} <RunLink id={runId} />
        </span>
        <span className={css.quiet}>
          {t('thread')}{' '}
          <ScreenLink to={threadHref(threadId)} title={threadId} className={css.mono}>
            {shortId(threadId)}
          </ScreenLink>
        </span>
        <span className={css.buttons}>
          {outcome !== undefined && (
            <span className={css.did}>
              <Did outcome={outcome} />
            </span>
          )}
          {mode === undefined && (
            <>
              <Button small disabled={isClosed} data-testid="inbox-deny" onClick={() => setMode('deny')}>
                {t('deny')}
              </Button>
              <Button
                small
                tone="primary"
                disabled={isClosed || !isSeen}
                title={isSeen ? undefined : t('unseen')}
                data-testid="inbox-approve"
                onClick={approve}
              >
                {t(asks === 'permission' ? 'approve' : asks === 'answer' ? 'answer' : 'edit')}
              </Button>
            </>
          )}
        </span>
      </div>
      {mode && <Form mode={mode} open={open} disabled={isClosed} onWish={decide} onBack={back} />}
    </li>
  );
};
