import { useMemo } from 'react';
import { type Loaded, type Resource, useResource } from '../data/queries.ts';

/** The rows of a list of entries. */
export type Entries<Row> = {
  query: Loaded<readonly unknown[]>;
  off?: Resource<unknown>['off'];
  rows: readonly Row[];
  /** Number of entries, by default that of the rows. */
  count?: number | undefined;
};

const asTheyAre = <Row>(entries: readonly Row[]): readonly Row[] => entries;

/** The stored entries as rows. */
export const useEntries = <Row>(records: Resource<Row[]>): Entries<Row> => useEntryRows(records, asTheyAre);

/** @param rowsOf adds facts of other resources, and keeps its identity while they are the same */
export const useEntryRows = <Entry, Row>(
  records: Resource<Entry[]>,
  rowsOf: (entries: readonly Entry[]) => readonly Row[],
): Entries<Row> => {
  const query = useResource(records);
  const rows = useMemo(() => rowsOf(query.data ?? []), [query.data, rowsOf]);
  return { query, off: records.off, rows };
};
