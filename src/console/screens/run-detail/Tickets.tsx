import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type Decision, decide, runsChanged } from '../../runs/control.ts';
import type { Run, Ticket } from '../../runs/run.ts';
import { TicketContent } from '../../runs/TicketContent.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import { texts as inboxTexts } from '../inbox/texts.ts';
import { asksFor, wishOf } from '../inbox/tickets.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

/** The ticket was decided elsewhere, or its run has ended. */
const GONE = 404;

const OneTicket = ({ run, ticket }: { run: Run; ticket: Ticket }) => {
  const t = useTexts(texts);
  const say = useTexts(inboxTexts);
  const labels = {
    permission: t('ticket.why'),
    answer: t('ticket.answerText'),
    arguments: say('arguments.text'),
  };
  const asks = asksFor(ticket);
  const [said, setSaid] = useState(asks === 'arguments' ? JSON.stringify(ticket.arguments ?? {}) : '');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [isSeen, setSeen] = useState(false);
  const submit = async (decision: Omit<Decision, 'ticket'>): Promise<void> => {
    setBusy(true);
    try {
      await decide(run.run_id, { ticket, ...decision });
      toast('success', t('ticket.decided'));
    } catch (error) {
      if (statusOf(error) === GONE) toast('info', t('ticket.gone'));
      else toastError(error);
      setBusy(false);
    }
    runsChanged();
  };
  const answer = (): void => {
    const read =
      asks === 'permission' ? { wish: { do: 'approve' } as const } : wishOf(said, { isDenied: false, asks });
    if ('problem' in read) setProblem(say(read.problem));
    else if (read.wish.do !== 'deny') {
      const payload = read.wish.do === 'answer' ? read.wish.value : { approved: true };
      void submit({ action: 'resume', payload });
    }
  };
  const deny = (): void => {
    // What stands in the field is no reason where it holds the arguments.
    const reason = asks === 'arguments' ? '' : said.trim();
    void submit({ action: 'cancel', payload: { reason }, reason: reason || undefined });
  };
  const change = (to: string): void => {
    setSaid(to);
    setProblem(undefined);
  };
  return (
    <li className={css.ticket}>
      <div className={css.ticketHead}>
        <strong>{ticket.tool_name}</strong>
        <Ago at={ticket.updated_at} />
        <ScreenLink to="/inbox">{t('ticket.inbox')}</ScreenLink>
      </div>
      <TicketContent ticket={ticket} onSeen={() => setSeen(true)} />
      <div className={css.ticketActions}>
        <Field label={labels[asks]} error={problem}>
          {(control) => (
            <input {...control} type="text" value={said} onChange={(event) => change(event.target.value)} />
          )}
        </Field>
        <Button tone="danger" disabled={busy} onClick={deny}>
          {t('ticket.deny')}
        </Button>
        <Button
          tone="primary"
          disabled={busy || !isSeen || (asks !== 'permission' && said.trim() === '')}
          title={isSeen ? undefined : say('unseen')}
          onClick={answer}
        >
          {t(asks === 'permission' ? 'ticket.approve' : 'ticket.answer')}
        </Button>
      </div>
    </li>
  );
};

/** What the run waits for, where somebody has to decide. */
export const Tickets = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const tickets = run.status === 'waiting' ? (run.waiting?.tickets ?? []) : [];
  if (tickets.length === 0) return null;
  return (
    <section className={css.tickets} aria-label={t('ticket.title')}>
      <h2>{t('ticket.title')}</h2>
      <ul>
        {tickets.map((ticket) => (
          <OneTicket key={ticket.ticket_id} run={run} ticket={ticket} />
        ))}
      </ul>
    </section>
  );
};
