import type { ReactNode } from 'react';
import { type DataColumn, DataTable } from '../design/DataTable.tsx';

export type FigureRow = { key: string; name: ReactNode; figures: readonly ReactNode[]; isWrong?: boolean };

/** A small table, whose first column names the rows. The others hold numbers, or texts. */
export const FigureTable = (props: {
  label: string;
  columns: readonly string[];
  rows: readonly FigureRow[];
  hasTexts?: boolean;
}) => (
  <DataTable
    label={props.label}
    rows={props.rows}
    rowId={({ key }) => key}
    isWrong={({ isWrong }) => isWrong}
    columns={props.columns.map(
      (label, place): DataColumn<FigureRow> =>
        place === 0
          ? { label, look: 'name', cell: ({ name }) => name }
          : { label, look: props.hasTexts ? undefined : 'number', cell: ({ figures }) => figures[place - 1] },
    )}
  />
);
