import { type ReactNode, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Activity.module.css';
import { shareOf } from './stats.ts';
import { texts } from './texts.ts';

/** A short table of figures. Its heads sort it, and bars compare the values of a column. */

type StatColumn<Row> = {
  /** Unique within the table. */
  label: string;
  value: (row: Row) => string | number;
  cell: (row: Row) => ReactNode;
};

/** @param show by default the value itself; `bar` draws a bar next to it */
type ColumnOf<Row> = <Value extends string | number>(
  label: string,
  value: (row: Row) => Value,
  show?: (value: Value, row: Row) => ReactNode,
  look?: 'bar',
) => StatColumn<Row>;

export type ColumnsOf<Row> = (column: ColumnOf<Row>) => readonly StatColumn<Row>[];

const compared = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));

export const StatTable = <Row,>(props: {
  label: string;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  columns: ColumnsOf<Row>;
  /** Position of the column that sorts the table first, in descending order; by default rows keep their order. */
  sortedBy?: number;
  /** Number of rows shown before the others are requested. */
  most?: number;
}) => {
  const t = useTexts(texts);
  const { rows, most = 8 } = props;
  /** A bar of at most 56 px. */
  const bar = (value: (row: Row) => string | number, row: Row) => ({
    backgroundSize: `${56 * shareOf(Number(value(row)), Math.max(...rows.map((one) => Number(value(one)))))}px 6px`,
  });
  const columns = props.columns((label, value, show = (shown) => shown, look) => ({
    label,
    value,
    cell: (row) => {
      const shown = show(value(row), row);
      return look === 'bar' ? (
        <span className={css.measure} style={bar(value, row)}>
          {shown}
        </span>
      ) : (
        shown
      );
    },
  }));
  const [{ by, isUp }, sort] = useState({ by: props.sortedBy ?? -1, isUp: false });
  const [showsAll, showAll] = useState(false);
  const sorter = columns[by]?.value;
  const sorted = sorter ? rows.toSorted((a, b) => compared(sorter(a), sorter(b)) * (isUp ? 1 : -1)) : rows;
  const shown = showsAll ? sorted : sorted.slice(0, most);
  return (
    <Scroller label={props.label} className={css.frame}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map(({ label }, index) => (
              <th
                key={label}
                scope="col"
                aria-sort={by === index ? (isUp ? 'ascending' : 'descending') : undefined}
              >
                <button type="button" onClick={() => sort({ by: index, isUp: by === index && !isUp })}>
                  {label}
                  {by === index && <span aria-hidden="true">{isUp ? ' ↑' : ' ↓'}</span>}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={props.rowId(row)}>
              {columns.map((one) => (
                <td key={one.label}>{one.cell(row)}</td>
              ))}
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
