import { compareKeys, type Key } from './keys.ts';
import type { Span, Table } from './table.ts';

/**
 * Reads ranges of an index that share no row as one list, in the order of their keys after the prefix.
 *
 * A row is then written once, in its most specific range (a run under its status), and more general lists are merges.
 * Cost: a cursor and a read per range in addition to the rows; rows are skipped inside LMDB, in steps that halve with
 * each read, so a distant page costs about as much as in one range.
 */

/**
 * `after`: starts after this key, which need not exist. `from` and `to`: the first and the last key, both inclusive.
 */
export type Range = Pick<Span, 'prefix' | 'after' | 'from' | 'to'>;

type Index = Pick<Table<unknown>, 'firstKey'>;

/** In ascending order, or descending with `reverse`, as `read` returns each range. Ranges are read lazily. */
export function* merge<Row extends { key: Key }>(
  ranges: readonly Range[],
  read: (range: Range) => Iterable<Row>,
  reverse = false,
): Iterable<Row> {
  const [only, ...others] = ranges;
  if (only && others.length === 0) return yield* read(only);
  const open = ranges.map((range) => read(range)[Symbol.iterator]());
  try {
    const heads = open.map(rowIn);
    for (;;) {
      const first = firstOf(
        heads.map((head) => head?.key),
        reverse,
      );
      const [head, rows] = [heads[first], open[first]];
      if (!head || !rows) return;
      yield head;
      heads[first] = rowIn(rows);
    }
  } finally {
    // An early return of the consumer closes the cursors.
    for (const rows of open) rows.return?.();
  }
}

const rowIn = <Row>(rows: Iterator<Row>): Row | undefined => {
  const { done, value } = rows.next();
  return done ? undefined : value;
};

/** Returns the index of the first key in order; -1 when there is none. */
const firstOf = (keys: readonly (Key | undefined)[], reverse = false): number => {
  let first = -1;
  for (let at = 0; at < keys.length; at += 1) {
    const [key, best] = [keys[at], keys[first]];
    if (key && (!best || compareKeys(key, best) < 0 !== reverse)) first = at;
  }
  return first;
};

/** Returns the first key of the merge; the last one with `reverse`. */
export const nearest = (index: Index, ranges: readonly Range[], reverse = false): Key | undefined => {
  const keys = next(index, ranges, { offset: 0, reverse });
  return keys[firstOf(keys, reverse)];
};

/** Returns the ranges after the first `count` rows of the merge, or undefined when it has fewer. */
export const skip = (
  index: Index,
  ranges: readonly Range[],
  count: number,
  reverse = false,
): readonly Range[] | undefined => {
  let rest = ranges;
  for (let left = count; left > 0; ) {
    // Each range is read this far ahead. At most `left` rows of the merge precede or equal the first of the keys found.
    const step = Math.max(1, Math.floor(left / rest.length));
    const keys = next(index, rest, { offset: step - 1, reverse });
    const first = firstOf(keys, reverse);
    const after = keys[first];
    if (!after) return undefined;
    rest = rest.map((range, at) => (at === first ? { ...range, after } : range));
    left -= step;
  }
  return rest;
};

const next = (
  index: Index,
  ranges: readonly Range[],
  span: { offset: number; reverse: boolean },
): (Key | undefined)[] =>
  ranges.map((range) => index.firstKey({ ...range, ...span })?.slice(range.prefix.length));
