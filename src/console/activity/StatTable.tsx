import type { ReactNode } from 'react';
import { type DataColumn, DataTable } from '../design/DataTable.tsx';
import css from './Activity.module.css';
import { shareOf } from './stats.ts';

/** A short table of figures. Its heads sort it, and bars compare the values of a column. */

/** @param show by default the value itself; `bar` draws a bar next to it */
type ColumnOf<Row> = <Value extends string | number>(
  label: string,
  value: (row: Row) => Value,
  show?: (value: Value, row: Row) => ReactNode,
  look?: 'bar',
) => DataColumn<Row>;

export type ColumnsOf<Row> = (column: ColumnOf<Row>) => readonly DataColumn<Row>[];

export const StatTable = <Row,>(props: {
  label: string;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  none?: string;
  columns: ColumnsOf<Row>;
  sortedBy?: number;
  most?: number;
  /** The number of columns that name a row; the others are figures. */
  names?: number;
}) => {
  const { rows, names = 1 } = props;
  /** A bar of at most 56 px. */
  const bar = (value: (row: Row) => string | number, row: Row) => ({
    backgroundSize: `${56 * shareOf(Number(value(row)), Math.max(...rows.map((one) => Number(value(one)))))}px 6px`,
  });
  const columns = props.columns((label, value, show = (shown) => shown, look) => ({
    label,
    value,
    look: 'number',
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
  return (
    <DataTable
      most={8}
      {...props}
      columns={columns.map((column, index) => (index < names ? { ...column, look: undefined } : column))}
    />
  );
};
