import type { ReactNode } from 'react';
import { visibleText } from '../../data/visible-text.ts';
import { wholeJson } from '../../design/WholeJson.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './Inbox.module.css';
import texts from './texts.json' with { type: 'json' };
import type { Open } from './tickets.ts';

/** The arguments on one line; those of delegates name their tools. */
const lineOf = ({ ticket }: Open): string => {
  const below = ticket.tickets ?? [];
  if (below.length === 0) return wholeJson(ticket.arguments).replace(/\s+/g, ' ');
  return below
    .map((one) => `${visibleText(one.tool)} ${wholeJson(one.arguments)}`.replace(/\s+/g, ' '))
    .join(', ');
};

/** A ticket in two lines, with its state at the end of the first. */
export const TicketLines = (props: { open: Open; isLate?: boolean; children: ReactNode }) => {
  const t = useTexts(texts);
  const { open } = props;
  return (
    <>
      <span className={css.first}>
        <strong className="mono">{visibleText(open.ticket.tool_name)}</strong>
        <span className={`small ${css.who}`}>{open.agentId}</span>
        {open.user !== undefined && (
          <span className={`small ${css.who}`}>{t('for.user', { user: open.user })}</span>
        )}
        <span className={`small push ${css.age}`} data-late={props.isLate || undefined}>
          {props.children}
        </span>
      </span>
      <span className="small mono cut">{lineOf(open)}</span>
    </>
  );
};
