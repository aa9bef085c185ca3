import { visibleText } from '../../data/visible-text.ts';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { Run } from '../../run-records/run.ts';
import { Decision, useDecision } from '../inbox/Decision.tsx';
import { type Decisions, useDecisions } from '../inbox/decisions.ts';
import { type Open, openTickets } from '../inbox/tickets.ts';
import css from './RunDetail.module.css';
import texts from './texts.json' with { type: 'json' };

const OneTicket = ({ open, decisions }: { open: Open; decisions: Decisions }) => {
  const t = useTexts(texts);
  const decision = useDecision(open, (wish) => void decisions.decide(wish, [open]));
  const outcome = decisions.outcomes.get(open.key);
  return (
    <li className="card stack inset">
      <div className={`row soft ${css.ticketHead}`}>
        <strong>{visibleText(open.ticket.tool_name)}</strong>
        <Ago at={open.ticket.updated_at} />
        <ScreenLink to="/inbox">{t('ticket.inbox')}</ScreenLink>
      </div>
      <Decision
        open={open}
        decision={decision}
        outcome={outcome === 'busy' ? undefined : outcome}
        isBusy={outcome === 'busy'}
      />
    </li>
  );
};

/** Tickets of a waiting run that a person has to decide. */
export const Tickets = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const decisions = useDecisions();
  const tickets = run.status === 'waiting' ? openTickets([run]) : [];
  if (tickets.length === 0) return null;
  return (
    <section className={`card inset stack ${css.tickets}`} aria-label={t('ticket.title')}>
      <h2>{t('ticket.title')}</h2>
      <ul className="halves">
        {tickets.map((open) => (
          <OneTicket key={open.key} open={open} decisions={decisions} />
        ))}
      </ul>
    </section>
  );
};
