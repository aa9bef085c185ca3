import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { redactText } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { Json } from '../../design/Json.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type Decision, decide, runsChanged } from '../../runs/control.ts';
import type { Run, Ticket } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

/** Decided meanwhile, or over. */
const GONE = [404, 409];

const OneTicket = ({ run, ticket }: { run: Run; ticket: Ticket }) => {
  const t = useTexts(texts);
  const [said, setSaid] = useState('');
  const [busy, setBusy] = useState(false);
  const asksPermission = ticket.resume_mode === 'replay_tool_call';
  const submit = async (decision: Omit<Decision, 'toolCallId'>): Promise<void> => {
    setBusy(true);
    try {
      await decide(run.run_id, { toolCallId: ticket.tool_call_id, ...decision });
      toast('success', t('ticket.decided'));
    } catch (error) {
      if (GONE.includes(statusOf(error) ?? 0)) toast('info', t('ticket.gone'));
      else toastError(error);
      setBusy(false);
    }
    runsChanged();
  };
  const answer = (): Promise<void> =>
    submit({ action: 'resume', payload: asksPermission ? { approved: true } : said });
  return (
    <li className={css.ticket}>
      <div className={css.ticketHead}>
        <strong>{ticket.tool_name}</strong>
        <Ago at={ticket.updated_at} />
        <ScreenLink to="/inbox">{t('ticket.inbox')}</ScreenLink>
      </div>
      {ticket.message !== undefined && <p>{redactText(ticket.message)}</p>}
      <Json value={ticket.arguments} label={ticket.tool_name} />
      <div className={css.ticketActions}>
        <Field label={t(asksPermission ? 'ticket.why' : 'ticket.answerText')}>
          {(control) => (
            <input {...control} type="text" value={said} onChange={(event) => setSaid(event.target.value)} />
          )}
        </Field>
        <Button
          tone="danger"
          disabled={busy}
          onClick={() =>
            void submit({ action: 'cancel', payload: { reason: said }, reason: said || undefined })
          }
        >
          {t('ticket.deny')}
        </Button>
        <Button
          tone="primary"
          disabled={busy || (!asksPermission && said.trim() === '')}
          onClick={() => void answer()}
        >
          {t(asksPermission ? 'ticket.approve' : 'ticket.answer')}
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
