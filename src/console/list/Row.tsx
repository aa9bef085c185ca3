import type { KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { boxLook } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink, useGo } from '../shell/links.tsx';
import { isScreen } from '../shell/screen-paths.ts';
import type { Column } from './column.ts';
import css from './List.module.css';
import type { TableProps } from './list-props.ts';
import { Marked } from './Marked.tsx';
import { listTexts } from './texts.ts';

type RowProps<R> = TableProps<R> & { row: R; showsCheck: boolean; onHover: () => void };

const Cell = <R,>({ column, row, tokens }: { column: Column<R>; row: R; tokens: readonly string[] }) => {
  const mark = (text: string): ReactNode => <Marked text={text} tokens={tokens} />;
  if (column.cell) return column.cell(row, mark);
  const value = column.value(row);
  return value === undefined || value === null || value === '' ? '—' : mark(String(value));
};

/** What is pressed inside of a row does its own work. */
const isOwn = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('a, button, input, label, select, textarea') !== null;

/** Keys of a row that has the focus. `j`, `k` and the arrows come from the shell. */
const useRowKeys = (open: () => void, toggle: () => void) => (event: KeyboardEvent<HTMLTableRowElement>) => {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter' || event.key === 'e') open();
  else if (event.key === 'x') toggle();
  else return;
  event.preventDefault();
};

export const Row = <R,>(props: RowProps<R>) => {
  const t = useTexts(listTexts);
  const { row, columns, listed, rowId, selected, select, rowHref, onOpen, actions } = props;
  const go = useGo();
  const id = rowId(row);
  const leads = rowHref?.(row);
  const href = leads !== undefined && isScreen(leads) ? leads : undefined;
  const isSelected = selected.has(id);
  const open = (): void => (href !== undefined ? go(href) : onOpen?.(row));
  const toggle = (): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    select(next);
  };
  const onClick = (event: MouseEvent): void => {
    if (isOwn(event.target) || getSelection()?.toString()) return;
    if (href !== undefined && (event.ctrlKey || event.metaKey)) window.open(href, '_blank', 'noopener');
    else open();
  };
  const onKeyDown = useRowKeys(open, toggle);
  return (
    <tr
      tabIndex={-1}
      data-row
      data-open={href !== undefined || onOpen ? true : undefined}
      data-selected={isSelected || props.openId === id || undefined}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <td data-check onPointerEnter={props.onHover}>
        {props.showsCheck && (
          <input
            type="checkbox"
            className={boxLook}
            aria-label={t('selectRow', { row: id })}
            checked={isSelected}
            onChange={toggle}
          />
        )}
      </td>
      {columns.map((column, index) => (
        <td key={column.id} data-align={column.align} data-first={index === 0 || undefined}>
          {index === 0 ? (
            <FirstCell href={href} onOpen={onOpen && (() => onOpen(row))}>
              <Cell column={column} row={row} tokens={listed.tokens} />
            </FirstCell>
          ) : (
            <Cell column={column} row={row} tokens={listed.tokens} />
          )}
        </td>
      ))}
      {actions && (
        <td data-actions>
          <span className={css.rowActions}>{actions(row)}</span>
        </td>
      )}
    </tr>
  );
};

const FirstCell = (props: {
  href: string | undefined;
  onOpen: (() => void) | undefined;
  children: ReactNode;
}) => {
  const { href, onOpen, children } = props;
  if (href !== undefined) {
    return (
      <ScreenLink to={href} className={css.primary}>
        {children}
      </ScreenLink>
    );
  }
  if (!onOpen) return children;
  return (
    <button type="button" className={css.primary} onClick={onOpen}>
      {children}
    </button>
  );
};
