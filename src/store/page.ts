import { z } from 'zod';
import { MAX_ID_BYTES } from '../schema/id.ts';
import { fillPage } from '../schema/page-rows.ts';
import type { Counters } from './counters.ts';
import type { Key } from './keys.ts';
import { merge, nearest, skip } from './merge.ts';
import type { Span, Table } from './table.ts';

/**
 * Pages of an ordered index. A position is the key of the row before the page (none for the start of the list)
 * and the number of rows that were before it, so a walk by positions neither skips nor repeats a row whose key
 * did not change, whatever happens to the others. Costs two reads beside the rows of the page; rows that are
 * skipped, by `offset` or to find the page before, are skipped inside LMDB.
 */

export const Position = z.object({
  key: z
    .array(z.union([z.string().max(MAX_ID_BYTES), z.number()]))
    .max(3)
    .nullable(),
  offset: z.int().nonnegative(),
});
export type Position = z.infer<typeof Position>;

export type Page = { offset: number; limit: number; after?: Position };

export type PageOf<T> = {
  items: T[];
  /** The JSON of what clients see of each. */
  texts: string[];
  total: number;
  offset: number;
  next?: Position;
  prev?: Position;
};

/** How a row of an index becomes a row of a page. */
export type Rows<T, Row> = {
  read(found: T): Row;
  /** What clients see of it; the whole row when missing. */
  shown?: ((row: Row) => unknown) | undefined;
};

/** What a page is of: the ranges that have rows, and how many they have together. */
export type List<T> = { index: Table<T>; prefixes: readonly Key[]; total: number };

/** Lists that share no row, as one. */
export const counted = <T>(index: Table<T>, counters: Counters, lists: readonly Key[]): List<T> => {
  let total = 0;
  const prefixes = lists.filter((list) => {
    const count = counters.get(list);
    total += count;
    return count > 0;
  });
  return { index, prefixes, total };
};

export const readPage = <T, Row>(
  list: List<T>,
  { offset, limit, after }: Page,
  { read, shown = (row) => row }: Rows<T, Row>,
): PageOf<Row> => {
  const { total } = list;
  const skipped = after?.offset ?? offset;
  const found = rowsBehind(list, after?.key ? { key: after.key } : { skipped }, limit + 1);
  const { rows, texts, more } = fillPage(readRows(found, read), limit, ({ row }) => shown(row));
  const last = rows.at(-1);
  const start = Math.min(skipped, total);
  const prev = skipped === 0 ? undefined : pageBefore(list, { first: rows[0]?.key, start, limit });
  return {
    items: rows.map(({ row }) => row),
    texts,
    total,
    offset: skipped,
    ...(more && last && { next: { key: last.key, offset: skipped + rows.length } }),
    ...(prev && { prev }),
  };
};

function* readRows<T, Row>(
  found: Iterable<{ key: Key; found: T }>,
  read: (found: T) => Row,
): Iterable<{ key: Key; row: Row }> {
  for (const { key, found: value } of found) yield { key, row: read(value) };
}

type Start = { key: Key } | { skipped: number };

const rowsBehind = <T>(
  { index, prefixes }: List<T>,
  start: Start,
  limit: number,
): Iterable<{ key: Key; found: T }> => {
  const ranges =
    'key' in start
      ? prefixes.map((prefix) => ({ prefix, after: start.key }))
      : skip(
          index,
          prefixes.map((prefix) => ({ prefix })),
          start.skipped,
        );
  return merge(ranges ?? [], (range) => foundIn(index, { ...range, limit }));
};

function* foundIn<T>(index: Table<T>, span: Span): Iterable<{ key: Key; found: T }> {
  for (const { key, value } of index.entries(span))
    yield { key: key.slice(span.prefix.length), found: value };
}

const pageBefore = (
  { index, prefixes }: List<unknown>,
  { first, start, limit }: { first: Key | undefined; start: number; limit: number },
): Position | undefined => {
  const ranges = prefixes.map((prefix) => ({ prefix, ...(first && { after: first }) }));
  if (!nearest(index, ranges, REVERSE)) return undefined;
  const behind = skip(index, ranges, limit, REVERSE);
  const key = (behind && nearest(index, behind, REVERSE)) ?? null;
  return { key, offset: key ? Math.max(0, start - limit) : 0 };
};

const REVERSE = true;
