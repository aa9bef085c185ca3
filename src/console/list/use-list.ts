import { useMemo } from 'react';
import { type Column, textIn } from './column.ts';
import { type ListState, pageWithin, readListState, type Sorting, writeListState } from './list-state.ts';
import { matches, tokensOf } from './match.ts';
import { sorted } from './order.ts';
import { useQueryState } from './use-query-state.ts';

/** The rows that a list shows, according to its address. */

export type Listed<Row> = {
  state: ListState;
  /** All matching rows in order. */
  found: Row[];
  shown: Row[];
  tokens: string[];
  change(change: Partial<ListState>): void;
};

const textsOf = <Row>(row: Row, columns: readonly Column<Row>[]): string[] =>
  columns.map((column) => textIn(column, row));

export const useList = <Row>(options: {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  usualSort: Sorting | undefined;
  /** Shows all rows on one page. */
  unpaged: boolean;
  /** The rows are found and sorted already. */
  isPaged: boolean;
}): Listed<Row> => {
  const { rows, columns, usualSort, unpaged, isPaged } = options;
  const [query, setQuery] = useQueryState();
  const ids = useMemo(() => columns.map(({ id }) => id), [columns]);
  const read = useMemo(() => readListState(query, ids, usualSort), [query, ids, usualSort]);
  const { q, sort } = read;
  const tokens = useMemo(() => tokensOf(q), [q]);
  const found = useMemo(() => {
    if (isPaged) return [...rows];
    const matching =
      tokens.length === 0 ? rows : rows.filter((row) => matches(textsOf(row, columns), tokens));
    const column = columns.find(({ id }) => id === sort?.id);
    return column && sort ? sorted(matching, column.value, sort.direction) : [...matching];
  }, [rows, columns, tokens, sort, isPaged]);
  const state = { ...read, page: pageWithin(read.page, read.size, found.length) };
  const first = (state.page - 1) * state.size;
  return {
    state,
    found,
    shown: unpaged ? found : found.slice(first, first + state.size),
    tokens,
    change: (change) => setQuery(writeListState(change, usualSort)),
  };
};
