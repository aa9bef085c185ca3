import type { DataColumn } from '../design/DataTable.tsx';
import type { Column } from './column.ts';

/** Parts of columns that many lists have. */

/** The first column of a list. */
export const FIRST = { always: true, shortened: true } as const;

/** The number of agents that use an entry, with their ids in the tooltip. */
export const agentsCell = <Row extends { agents: readonly string[] }>(none?: string) => ({
  align: 'end' as const,
  value: ({ agents }: Row) => agents.length,
  text: ({ agents }: Row) => agents.join(' '),
  cell: ({ agents }: Row) => <span title={agents.join(', ') || none}>{agents.length}</span>,
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
