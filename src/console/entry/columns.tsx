import type { ReactNode } from 'react';
import type { Column } from '../list/column.ts';
import css from './Entry.module.css';

/** Columns that several lists of entries have. */

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
  cell: (row, mark) => <span className={css.mono}>{value(row) === '' ? '—' : mark(value(row))}</span>,
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
