import { useCallback, useState } from 'react';
import { boxLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import type { Column } from './column.ts';
import css from './List.module.css';
import type { TableProps } from './list-props.ts';
import { nextDirection } from './order.ts';
import { Row } from './Row.tsx';
import listTexts from './texts.json' with { type: 'json' };
import type { Listed } from './use-list.ts';
import { useRowsInView } from './use-rows-in-view.ts';

/** Fewer rows show their texts in full, or are cards. */
const FEW = 8;

const ARIA = { asc: 'ascending', desc: 'descending' } as const;

const Head = <R,>({ column, listed, first }: { column: Column<R>; listed: Listed<R>; first: boolean }) => {
  const { sort } = listed.state;
  const direction = sort?.id === column.id ? sort.direction : undefined;
  const turn = (): void => {
    const next = nextDirection(direction, column.sorts);
    listed.change({ sort: next && { id: column.id, direction: next } });
  };
  return (
    <th
      scope="col"
      aria-sort={direction && ARIA[direction]}
      data-align={column.align}
      data-first={first || undefined}
      style={{ width: column.width }}
    >
      {column.unsorted ? (
        column.label
      ) : (
        <button type="button" onClick={turn}>
          {column.label}
          <Icon
            name={direction === 'asc' ? 'arrowUp' : direction === 'desc' ? 'arrowDown' : 'sort'}
            size={12}
          />
        </button>
      )}
    </th>
  );
};

/** Stands for the unrendered rows above or below the visible ones, as one empty row of their height. */
const Gap = ({ height, span }: { height: number; span: number }) =>
  height > 0 ? (
    <tr>
      <td colSpan={span} style={{ height, padding: 0 }} />
    </tr>
  ) : null;

export const Table = <R,>(props: TableProps<R>) => {
  const t = useTexts(listTexts);
  const { columns, listed, selected, select, rowId } = props;
  const [hasChecks, showChecks] = useState(false);
  const onHover = useCallback(() => showChecks(true), []);
  const isChecked = hasChecks || selected.size > 0;
  const { rows, before, after } = useRowsInView(listed.shown, props.frame);
  const allSelected = listed.shown.every((row) => selected.has(rowId(row)));
  const toggleAll = (): void => select(new Set(allSelected ? [] : listed.shown.map(rowId)));
  const isFew = listed.found.length < FEW;
  const span = columns.length + 2;
  // An empty cell is no header.
  const CheckCell = isChecked ? 'th' : 'td';
  return (
    <table
      className={css.table}
      data-few={isFew || undefined}
      data-cards={(isFew && props.hasCards) || undefined}
      aria-rowcount={listed.found.length + 1}
    >
      <thead>
        <tr>
          <CheckCell scope={isChecked ? 'col' : undefined} data-check onPointerEnter={onHover}>
            {isChecked && (
              <input
                type="checkbox"
                className={boxLook}
                aria-label={t('selectAll')}
                checked={allSelected}
                onChange={toggleAll}
              />
            )}
          </CheckCell>
          {columns.map((column, index) => (
            <Head key={column.id} column={column} listed={listed} first={index === 0} />
          ))}
          {(props.actions || props.menu) && (
            <th scope="col" data-align="end" data-actions-head>
              <span data-hidden={props.menu !== undefined || undefined}>{t('actions')}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        <Gap height={before} span={span} />
        {rows.map((row) => (
          <Row key={rowId(row)} {...props} row={row} showsCheck={isChecked} onHover={onHover} />
        ))}
        <Gap height={after} span={span} />
      </tbody>
    </table>
  );
};
