import { type KeyboardEvent, useState } from 'react';
import { redact, redactText } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Field } from '../../design/Field.tsx';
import { Json } from '../../design/Json.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { RunLink, shortId } from '../../runs/RunChip.tsx';
import { threadHref } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import type { Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { texts } from './texts.ts';
import { asksFor, type Open, type Wish, wishOf } from './tickets.ts';

/** Longer ones are opened by who wants to see all of them. */
const SHORT = 140;

const Arguments = ({ value }: { value: unknown }) => {
  const t = useTexts(texts);
  const line = JSON.stringify(redact(value)) ?? '';
  if (line.length <= SHORT) return <code className={css.line}>{line}</code>;
  return (
    <details className={css.details}>
      <summary>
        {t('arguments')} <code className={css.line}>{line.slice(0, SHORT)}…</code>
      </summary>
      <Json value={value} label={t('arguments')} />
    </details>
  );
};

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
  onWish,
  onBack,
}: {
  mode: NonNullable<Mode>;
  open: Open;
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
    <div className={css.form}>
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
    </div>
  );
};

const focus = (element: HTMLElement | null): void => element?.focus();

/** One question. The keys a, d and e work on the one that has the focus. */
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
  const { ticket, runId, threadId, agentId } = open;
  const asks = asksFor(ticket);
  const approve = (): void => (asks === 'permission' ? onWish({ do: 'approve' }) : setMode('answer'));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (busy || isOver) return;
    if (event.key === 'a') approve();
    else if (event.key === 'd') setMode('deny');
    else if (event.key === 'e' && asks !== 'permission') setMode('answer');
    else return;
    event.preventDefault();
  };
  const isOver = outcome !== undefined && typeof outcome !== 'object';
  return (
    <li
      className={css.card}
      data-row
      data-testid={`inbox-card-${ticket.tool_call_id}`}
      data-over={isOver || undefined}
      tabIndex={-1}
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
      {!isOver && (
        <>
          {ticket.message !== undefined && <p className={css.message}>{redactText(ticket.message)}</p>}
          <Arguments value={ticket.arguments} />
        </>
      )}
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
          {outcome !== undefined && <Did outcome={outcome} />}
          {!isOver && mode === undefined && (
            <>
              <Button small disabled={busy} data-testid="inbox-deny" onClick={() => setMode('deny')}>
                {t('deny')}
              </Button>
              <Button small tone="primary" disabled={busy} data-testid="inbox-approve" onClick={approve}>
                {t(asks === 'permission' ? 'approve' : asks === 'answer' ? 'answer' : 'edit')}
              </Button>
            </>
          )}
        </span>
      </div>
      {!isOver && mode && (
        <Form
          mode={mode}
          open={open}
          onWish={(wish) => {
            setMode(undefined);
            onWish(wish);
          }}
          onBack={() => setMode(undefined)}
        />
      )}
    </li>
  );
};
