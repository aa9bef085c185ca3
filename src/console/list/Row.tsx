import { type KeyboardEvent, type MouseEvent, memo, type ReactNode } from 'react';
import { boxLook } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink, useGo } from '../navigation/links.tsx';
import { useIsScreen } from '../navigation/screen-paths.ts';
import { type Column, textIn } from './column.ts';
import css from './List.module.css';
import type { TableProps } from './list-props.ts';
import { highlighted } from './match.ts';
import { RowMenu } from './RowMenu.tsx';
import listTexts from './texts.json' with { type: 'json' };

/** A text with the matches of the search highlighted. */
const Marked = ({ text, tokens }: { text: string; tokens: readonly string[] }) => {
  let at = 0;
  return highlighted(text, tokens).map((part) => {
    at += part.text.length;
    return part.hit ? <mark key={at}>{part.text}</mark> : <span key={at}>{part.text}</span>;
  });
};

type RowProps<R> = TableProps<R> & { row: R; showsCheck: boolean; onHover: () => void };

const Cell = <R,>({ column, row, tokens }: { column: Column<R>; row: R; tokens: readonly string[] }) => {
  const mark = (text: string): ReactNode => <Marked text={text} tokens={tokens} />;
  if (column.cell) return column.cell(row, mark);
  const value = column.value(row);
  if (value === undefined || value === null || value === '') return '—';
  return column.isCode ? <code>{mark(String(value))}</code> : mark(String(value));
};

/** Lets the table shorten the text of a cell; the tooltip contains all of it. */
const Fitted = <R,>({ column, row, children }: { column: Column<R>; row: R; children: ReactNode }) =>
  column.shortened ? (
    <div className={css.shortened} data-min={column.shortened}>
      <div title={textIn(column, row) || undefined}>{children}</div>
    </div>
  ) : (
    children
  );

/** Interactive elements within a row handle their own events. */
const isOwn = (target: EventTarget): boolean =>
  target instanceof Element &&
  target.closest('a, button, input, label, select, textarea, [role="menu"]') !== null;

/** Keys of the focused row. The shell handles `j`, `k` and the arrow keys. */
const useRowKeys = (open: () => void, toggle: () => void) => (event: KeyboardEvent<HTMLTableRowElement>) => {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter' || event.key === 'e') open();
  else if (event.key === 'x') toggle();
  else return;
  event.preventDefault();
};

const RowOf = <R,>(props: RowProps<R>) => {
  const t = useTexts(listTexts);
  const { row, columns, listed, rowId, selected, select, rowHref, onOpen, actions, menu } = props;
  const go = useGo();
  const isScreen = useIsScreen();
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
        <td
          key={column.id}
          data-align={column.align}
          data-first={index === 0 || undefined}
          data-label={column.label}
        >
          <Fitted column={column} row={row}>
            {index === 0 ? (
              <FirstCell href={href} onOpen={onOpen && (() => onOpen(row))}>
                <Cell column={column} row={row} tokens={listed.tokens} />
              </FirstCell>
            ) : (
              <Cell column={column} row={row} tokens={listed.tokens} />
            )}
          </Fitted>
        </td>
      ))}
      {(actions || menu) && (
        <td data-actions>
          <span className={`row nowrap end ${css.actions}`}>
            {actions?.(row)}
            {menu && <RowMenu id={id} items={menu(row)} />}
          </span>
        </td>
      )}
    </tr>
  );
};

/** While the list scrolls, only rows that come into view are rendered. `memo` does not keep the type parameter. */
export const Row = memo(RowOf) as typeof RowOf;

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
