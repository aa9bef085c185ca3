import { compareKeys, type Key } from './keys.ts';
import type { Range } from './merge.ts';
import type { ListedIn } from './page.ts';
import type { Span } from './table.ts';

/** Adds rows in memory to an index, as one more range, which is read like those on disk. */

type Row<T> = { key: Key; value: T };

/** @param rows in ascending order of their keys */
export const withRows = <T>(
  index: ListedIn<T>,
  rows: readonly Row<T>[],
): { index: ListedIn<T>; range: Range } => {
  // No key on disk is empty, and the range is known by this prefix itself.
  const prefix: Key = [];
  const isInMemory = (span: Span): boolean => span.prefix === prefix;
  return {
    range: { prefix },
    index: {
      entries: (span) => (isInMemory(span) ? rowsWithin(rows, span) : index.entries(span)),
      keys: (span) => (isInMemory(span) ? rowsWithin(rows, span).map(({ key }) => key) : index.keys(span)),
      firstKey: (span) => (isInMemory(span) ? rowsWithin(rows, span)[0]?.key : index.firstKey(span)),
      count: (span) => (isInMemory(span) ? rowsWithin(rows, span).length : index.count(span)),
    },
  };
};

const rowsWithin = <T>(
  rows: readonly Row<T>[],
  { from, to, after, reverse = false, offset = 0, limit = Number.POSITIVE_INFINITY }: Span,
): Row<T>[] => {
  const [low, high] = reverse ? [from, after ? undefined : to] : [after ? undefined : from, to];
  const isWithin = ({ key }: Row<T>): boolean =>
    (low === undefined || compareKeys(key, low) >= 0) &&
    (high === undefined || compareKeys(key.slice(0, high.length), high) <= 0) &&
    (after === undefined || (reverse ? compareKeys(key, after) < 0 : compareKeys(key, after) > 0));
  const found = rows.filter(isWithin);
  return (reverse ? found.reverse() : found).slice(offset, offset + limit);
};
