import { type KeyboardEvent, useRef } from 'react';
import { Chip } from '../../design/Chip.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { Did, useDecision } from './Decision.tsx';
import { Detail } from './Detail.tsx';
import { isOpenStill, type Outcome } from './decisions.ts';
import css from './Inbox.module.css';
import { TicketLines } from './TicketLines.tsx';
import texts from './texts.json' with { type: 'json' };
import { canEdit, type Open, type Wish } from './tickets.ts';

/**
 * A row of the list, and the details of the selected one. The keys a, d and e act on the focused row. Approval requires
 * that the end of the arguments has been visible. A decided ticket keeps its place for a moment, so that the second
 * click of a double click hits no other one.
 */
export const TicketItem = (props: {
  open: Open;
  isSelected: boolean;
  isLate: boolean;
  isAgain: boolean;
  outcome: Outcome | undefined;
  isBusy: boolean;
  onSelect: () => void;
  onWish: (wish: Wish) => void;
}) => {
  const t = useTexts(texts);
  const { open, isSelected, outcome, onSelect } = props;
  const { ticket } = open;
  const item = useRef<HTMLLIElement>(null);
  const isPointed = useRef(false);
  const decision = useDecision(open, (wish) => {
    if (item.current && !isPointed.current) focusAnother(item.current);
    props.onWish(wish);
  });
  const isOver = !isOpenStill(outcome);
  const approve = (): void => {
    if (decision.isSeen) decision.approve();
    else lastEnd(item.current)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isRow =
      event.target instanceof HTMLElement && event.target.matches('[data-row], [data-row] > button');
    if (!isRow || event.ctrlKey || event.metaKey || event.altKey || isOver || props.isBusy || event.repeat)
      return;
    if (event.key === 'a') approve();
    else if (event.key === 'd') decision.setMode('deny');
    else if (event.key === 'e' && canEdit(ticket)) decision.setMode('edit');
    else return;
    event.preventDefault();
  };
  return (
    <li
      className={css.item}
      ref={item}
      data-row={isOver ? undefined : true}
      data-testid={`inbox-card-${ticket.tool_call_id}`}
      data-over={isOver || undefined}
      aria-current={isSelected || undefined}
      tabIndex={-1}
      onFocus={onSelect}
      onPointerDownCapture={() => {
        isPointed.current = true;
      }}
      onKeyDownCapture={() => {
        isPointed.current = false;
      }}
      onKeyDown={onKeyDown}
    >
      <button type="button" className="double" onClick={onSelect}>
        <TicketLines open={open} isLate={props.isLate}>
          {props.isAgain && <Chip tone="warn">{t('again')}</Chip>}
          {outcome === undefined ? <Ago at={ticket.updated_at} /> : <Did outcome={outcome} />}
        </TicketLines>
      </button>
      {isSelected && (
        <Detail
          open={open}
          decision={decision}
          outcome={outcome}
          isBusy={props.isBusy}
          onBack={() => item.current?.focus()}
        />
      )}
    </li>
  );
};

const lastEnd = (item: HTMLElement | null): Element | undefined =>
  Array.from(item?.querySelectorAll('[data-end]') ?? []).at(-1);

/** Focuses the next row, or the previous one, because this row will disappear. */
const focusAnother = (row: HTMLElement): void => {
  const rows = Array.from(document.querySelectorAll<HTMLElement>('[data-row]'));
  const at = rows.indexOf(row);
  (rows[at + 1] ?? rows[at - 1])?.focus();
};
