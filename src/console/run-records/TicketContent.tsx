import { visibleText } from '../data/visible-text.ts';
import { WholeJson } from '../design/WholeJson.tsx';
import type { Ticket } from './run.ts';
import css from './TicketContent.module.css';

/**
 * Content of a ticket that a person decides on: the arguments of its call, or the calls that its delegate waits with.
 * The person sees all of it unmasked before a decision; `onSeen` is called once the end of the content has been
 * visible.
 */
export const TicketContent = ({ ticket, onSeen }: { ticket: Ticket; onSeen?: (() => void) | undefined }) => {
  const below = ticket.tickets ?? [];
  return (
    <>
      {ticket.message !== undefined && (
        <p style={{ overflowWrap: 'anywhere' }}>{visibleText(ticket.message)}</p>
      )}
      <WholeJson value={ticket.arguments} onSeen={below.length === 0 ? onSeen : undefined} />
      {below.map((one, at) => (
        <section key={one.id} className={`column ${css.below}`}>
          <strong>{visibleText(one.tool)}</strong> <span>{one.agent_id}</span>
          <WholeJson value={one.arguments} onSeen={at === below.length - 1 ? onSeen : undefined} />
        </section>
      ))}
    </>
  );
};
