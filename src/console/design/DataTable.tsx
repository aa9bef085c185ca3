import { type ReactNode, useState } from 'react';
import { useTexts } from '../i18n/locale.ts';
import { Button } from './Button.tsx';
import { Scroller } from './Scroller.tsx';
import designTexts from './texts.json' with { type: 'json' };

export type DataColumn<Row> = {
  /** Unique within the table. */
  label: string;
  cell: (row: Row) => ReactNode;
  /** The head of the column sorts the rows by it. */
  value?: ((row: Row) => string | number) | undefined;
  /** Numbers are aligned at their end, `wide` takes the width that is left, and `name` is the head of the row. */
  look?: 'number' | 'wide' | 'name' | undefined;
};

const compared = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));

/** A short table within a card or a drawer. A list that is a screen is a `List`. */
export const DataTable = <Row,>(props: {
  label: string;
  columns: readonly DataColumn<Row>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  /** Rows of this kind are marked as wrong. */
  isWrong?: (row: Row) => boolean | undefined;
  none?: string;
  /** Position of the column that sorts the table first, in descending order; by default rows keep their order. */
  sortedBy?: number;
  /** Number of rows shown before the others are requested; by default all. */
  most?: number;
}) => {
  const t = useTexts(designTexts);
  const { columns, rows, most = rows.length } = props;
  const [{ by, isUp }, sort] = useState({ by: props.sortedBy ?? -1, isUp: false });
  const [showsAll, showAll] = useState(false);
  const sorter = columns[by]?.value;
  const sorted = sorter ? rows.toSorted((a, b) => compared(sorter(a), sorter(b)) * (isUp ? 1 : -1)) : rows;
  const shown = showsAll ? sorted : sorted.slice(0, most);
  if (rows.length === 0) return <p className="item quiet">{props.none}</p>;
  return (
    <Scroller label={t('table.label', { label: props.label })} className="frame">
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ label, value, look: kind }, index) => (
              <th
                key={label}
                scope="col"
                aria-sort={by === index ? (isUp ? 'ascending' : 'descending') : undefined}
                data-number={kind === 'number' || undefined}
                data-wide={kind === 'wide' || undefined}
              >
                {value ? (
                  <button type="button" onClick={() => sort({ by: index, isUp: by === index && !isUp })}>
                    {label}
                    {by === index && <span aria-hidden="true">{isUp ? ' ↑' : ' ↓'}</span>}
                  </button>
                ) : (
                  label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={props.rowId(row)} data-wrong={props.isWrong?.(row) || undefined}>
              {columns.map(({ label, cell, look: kind }) => {
                const Cell = kind === 'name' ? 'th' : 'td';
                return (
                  <Cell
                    key={label}
                    scope={kind === 'name' ? 'row' : undefined}
                    data-number={kind === 'number' || undefined}
                    data-wide={kind === 'wide' || undefined}
                  >
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <Button small tone="quiet" onClick={() => showAll(true)}>
          {t('table.all', { count: rows.length })}
        </Button>
      )}
    </Scroller>
  );
};
