import type { ReactNode } from 'react';
import type { DataColumn } from '../design/DataTable.tsx';
import { Ago, DateTime } from '../design/Time.tsx';
import type { Column } from './column.ts';
import type { Sortable } from './order.ts';

/** Columns of the kinds that many lists have. */

type Rest<Row> = Omit<Column<Row>, 'id' | 'label' | 'value'>;

export const column = <Row,>(
  id: string,
  label: string,
  value: (row: Row) => Sortable,
  rest?: Rest<Row>,
): Column<Row> => ({ id, label, value, ...rest });

/** The first column of a list. */
export const FIRST = { always: true, shortened: true } as const;

/** A column whose cells read their content themselves, so that it can be neither sorted nor searched. */
export const drawnColumn = <Row,>(id: string, label: string, cell: (row: Row) => ReactNode): Column<Row> => ({
  id,
  label,
  value: () => undefined,
  unsorted: true,
  text: () => '',
  cell,
});

/** A column with names, addresses or commands. */
export const monoColumn = <Row,>(id: string, label: string, value: (row: Row) => string): Column<Row> => ({
  id,
  label,
  shortened: true,
  value,
  cell: (row, mark) => <span className="mono">{value(row) === '' ? '—' : mark(value(row))}</span>,
});

/** The number of agents that use an entry, with their ids in the tooltip. */
export const agentsColumn = <Row extends { agents: readonly string[] }>(
  label: string,
  none?: string,
): Column<Row> => ({
  id: 'agents',
  label,
  align: 'end',
  value: ({ agents }) => agents.length,
  text: ({ agents }) => agents.join(' '),
  cell: ({ agents }) => <span title={agents.join(', ') || none}>{agents.length}</span>,
});

type Time<Row> = Rest<Row> & {
  /** Shown without a time. */
  none?: string;
  isDate?: boolean;
  title?: (row: Row) => string | null | undefined;
};

/** The age of a time, or its date. It is not searched. */
export const timeColumn = <Row,>(
  id: string,
  label: string,
  at: (row: Row) => number | string | null | undefined,
  { none = '—', isDate = false, title, ...rest }: Time<Row> = {},
): Column<Row> => ({
  id,
  label,
  value: at,
  text: () => '',
  cell: (row) => {
    const Shown = isDate ? DateTime : Ago;
    const time = at(row);
    if (time === null || time === undefined) return none;
    return (
      <span title={title?.(row) ?? undefined}>
        <Shown at={time} />
      </span>
    );
  },
  ...rest,
});

/** The columns of a list, for a short table. */
export const inTable = <Row,>(columns: readonly Column<Row>[]): DataColumn<Row>[] =>
  columns.map(({ label, cell, value, isCode }) => ({
    label,
    cell: (row) => {
      const shown = cell?.(row, (text) => text) ?? String(value(row));
      return isCode ? <code>{shown}</code> : shown;
    },
  }));
