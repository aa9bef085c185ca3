import { compareKeys, type Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * Ranges of an index that share no row, read as one list in the order of what their keys have behind the prefix.
 *
 * A row is then written once, in the range that says most about it (a run under its status), and the lists that say
 * less are merges. Costs a cursor and a read a range beside the rows; rows are skipped inside LMDB, in steps that
 * halve with each read, so a page far back costs about what it costs in one range.
 */

/** `after`: begins behind this key, which need not be there. */
export type Range = { prefix: Key; after?: Key };

type Index = Pick<Table<unknown>, 'firstKey'>;

/** In ascending order. Each range is read as far as its rows are asked for. */
export function* merge<Row extends { key: Key }>(
  ranges: readonly Range[],
  read: (range: Range) => Iterable<Row>,
): Iterable<Row> {
  const [only, ...others] = ranges;
  if (only && others.length === 0) return yield* read(only);
  const open = ranges.map((range) => read(range)[Symbol.iterator]());
  try {
    const heads = open.map(rowIn);
    for (;;) {
      const first = firstOf(heads.map((head) => head?.key));
      const [head, rows] = [heads[first], open[first]];
      if (!head || !rows) return;
      yield head;
      heads[first] = rowIn(rows);
    }
  } finally {
    // Whoever stops early gives the cursors back.
    for (const rows of open) rows.return?.();
  }
}

const rowIn = <Row>(rows: Iterator<Row>): Row | undefined => {
  const { done, value } = rows.next();
  return done ? undefined : value;
};

/** Which of the keys comes first; -1 when there is none. */
const firstOf = (keys: readonly (Key | undefined)[], reverse = false): number => {
  let first = -1;
  for (let at = 0; at < keys.length; at += 1) {
    const [key, best] = [keys[at], keys[first]];
    if (key && (!best || compareKeys(key, best) < 0 !== reverse)) first = at;
  }
  return first;
};

/** What comes first in the merge; from its end with `reverse`. */
export const nearest = (index: Index, ranges: readonly Range[], reverse = false): Key | undefined => {
  const keys = ahead(index, ranges, { offset: 0, reverse });
  return keys[firstOf(keys, reverse)];
};

/** The ranges behind the first rows of the merge, or undefined when it has fewer. */
export const skip = (
  index: Index,
  ranges: readonly Range[],
  count: number,
  reverse = false,
): readonly Range[] | undefined => {
  let rest = ranges;
  for (let left = count; left > 0; ) {
    // Each range looks so far ahead. Up to the first key that it sees, there are no more rows than are left.
    const step = Math.max(1, Math.floor(left / rest.length));
    const keys = ahead(index, rest, { offset: step - 1, reverse });
    const first = firstOf(keys, reverse);
    const after = keys[first];
    if (!after) return undefined;
    rest = rest.map((range, at) => (at === first ? { prefix: range.prefix, after } : range));
    left -= step;
  }
  return rest;
};

const ahead = (
  index: Index,
  ranges: readonly Range[],
  span: { offset: number; reverse: boolean },
): (Key | undefined)[] =>
  ranges.map(({ prefix, after }) =>
    index.firstKey({ prefix, ...(after && { after }), ...span })?.slice(prefix.length),
  );
