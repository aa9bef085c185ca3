import type { ReactNode } from 'react';
import type { DataColumn } from '../design/DataTable.tsx';
import { ScreenLink } from '../navigation/links.tsx';
import type { Column } from './column.ts';

/** Parts of columns that many lists have. */

/** The first column of a list. */
export const FIRST = { always: true, shortened: true } as const;

type OfAgent = { agent_id: string | undefined };

/** The agent of a row, with a link to it. */
export const AGENT_CELL = {
  shortened: true,
  value: ({ agent_id }: OfAgent) => agent_id,
  cell: ({ agent_id: id }: OfAgent, mark: (text: string) => ReactNode) =>
    id === undefined ? '—' : <ScreenLink to={`/agents/${encodeURIComponent(id)}`}>{mark(id)}</ScreenLink>,
} as const;

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
