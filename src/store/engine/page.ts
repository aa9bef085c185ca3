import { z } from 'zod';
import { MAX_ID_BYTES } from '../../schema/id.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { Counters } from './counters.ts';
import type { Key } from './keys.ts';
import { merge, nearest, type Range, skip } from './merge.ts';
import type { Span, Table } from './table.ts';

/**
 * Pages of an ordered index. A position is the key of the row before the page (none for the start of the list) and the
 * number of rows before the page, so a walk by positions neither skips nor repeats a row with an unchanged key,
 * regardless of changes to others.
 * Cost: two reads in addition to the rows of the page; rows that are skipped, by `offset` or to find the previous page,
 * are skipped inside LMDB.
 */

export const Position = z.object({
  key: z
    .array(z.union([z.string().max(MAX_ID_BYTES), z.number()]))
    .max(3)
    .nullable(),
  offset: z.int().nonnegative(),
});
export type Position = z.infer<typeof Position>;

export type Page = {
  offset: number;
  limit: number;
  after?: Position;
  /** The last row of the index comes first. */
  reverse?: boolean;
};

export type PageOf<T> = {
  items: T[];
  /** The JSON text of each item as shown to clients. */
  texts: string[];
  total: number;
  offset: number;
  next?: Position;
  prev?: Position;
  /** For a search: the number of rows that were examined up to the end of the page. */
  searched?: number;
};

/** Turns a row of an index into a row of a page. */
export type Rows<T, Row> = {
  read(found: T, key: Key): Row;
  /** Returns the client's view of a row; defaults to the whole row. */
  shown?: ((row: Row) => unknown) | undefined;
  search?: Search<Row> | undefined;
};

/** Maximum number of rows that a page of a search examines. */
export const MOST_EXAMINED = 1000;

/** Selects rows that no index selects. A page examines a limited number of rows, so it may have none and a `next`. */
export type Search<Row> = {
  wanted(row: Row): boolean;
  /** Maximum number of rows that a page examines. */
  most: number;
  /** Whether the page has to end because of the cost of the examined rows. */
  isSpent?: (() => boolean) | undefined;
};

/** The ranges of a list that have rows, and the total number of rows. */
export type List<T> = { index: ListedIn<T>; ranges: readonly Range[]; total: number };

/** The reads of an index that a page needs. */
export type ListedIn<T> = Pick<Table<T>, 'entries' | 'keys' | 'firstKey' | 'count'>;

/** Combines lists that share no row. */
export const counted = <T>(
  index: Table<T>,
  counters: Pick<Counters, 'get'>,
  lists: readonly Key[],
): List<T> => {
  let total = 0;
  const prefixes = lists.filter((list) => {
    const count = counters.get(list);
    total += count;
    return count > 0;
  });
  return { index, ranges: prefixes.map((prefix) => ({ prefix })), total };
};

export const readPage = <T, Row>(list: List<T>, page: Page, rows: Rows<T, Row>): PageOf<Row> => {
  const { total } = list;
  const { offset, limit, after, reverse = false } = page;
  const skipped = after?.offset ?? offset;
  const start = after?.key ? { key: after.key } : { skipped };
  if (rows.search) return searchPage(list, page, { ...rows, search: rows.search });
  const { read, shown = (row) => row } = rows;
  const found = rowsBehind(list, start, reverse, limit + 1);
  const filled = fillPage(readRows(found, read), limit, ({ row }) => shown(row));
  const last = filled.rows.at(-1);
  const first = filled.rows[0]?.key;
  const before =
    skipped === 0 ? undefined : pageBefore(list, { first, start: Math.min(skipped, total), limit }, !reverse);
  return {
    items: filled.rows.map(({ row }) => row),
    texts: filled.texts,
    total,
    offset: skipped,
    ...(filled.more && last && { next: { key: last.key, offset: skipped + filled.rows.length } }),
    ...(before && { prev: before }),
  };
};

/** Returns a page of the wanted rows. Positions count the examined rows, and no page before is known. */
const searchPage = <T, Row>(
  list: List<T>,
  { offset, limit, after, reverse = false }: Page,
  { read, shown = (row) => row, search }: Rows<T, Row> & { search: Search<Row> },
): PageOf<Row> => {
  const skipped = after?.offset ?? offset;
  const start = after?.key ? { key: after.key } : { skipped };
  const rows = readRows(rowsBehind(list, start, reverse), read);
  const progress: Examined = { count: 0, key: undefined, isCut: false };
  const filled = fillPage(examined(rows, search, progress), limit, ({ row }) => shown(row));
  const last = filled.rows.at(-1);
  // A row that did not fit is examined again by the next page.
  const end = filled.more && last ? { key: last.key, count: last.count } : progress;
  const hasMore = filled.more || progress.isCut;
  const searched = skipped + end.count;
  return {
    items: filled.rows.map(({ row }) => row),
    texts: filled.texts,
    total: list.total,
    offset: skipped,
    searched,
    ...(hasMore && end.key && { next: { key: end.key, offset: searched } }),
  };
};

type Examined = { count: number; key: Key | undefined; isCut: boolean };

function* examined<Row>(
  rows: Iterable<{ key: Key; row: Row }>,
  { wanted, most, isSpent }: Search<Row>,
  progress: Examined,
): Iterable<{ key: Key; row: Row; count: number }> {
  for (const { key, row } of rows) {
    // The first row is always examined, so that a walk by pages ends.
    progress.isCut = progress.count >= most || (progress.count > 0 && isSpent?.() === true);
    if (progress.isCut) return;
    progress.count += 1;
    progress.key = key;
    if (wanted(row)) yield { key, row, count: progress.count };
  }
}

/** Yields up to `most` rows of a list, in order. */
export function* firstRows<T, Row>(
  list: List<T>,
  most: number,
  read: Rows<T, Row>['read'],
): Iterable<{ key: Key; row: Row }> {
  let count = 0;
  for (const row of readRows(rowsBehind(list, { skipped: 0 }, false, most), read)) {
    yield row;
    count += 1;
    if (count >= most) return;
  }
}

function* readRows<T, Row>(
  found: Iterable<{ key: Key; found: T }>,
  read: Rows<T, Row>['read'],
): Iterable<{ key: Key; row: Row }> {
  for (const { key, found: value } of found) yield { key, row: read(value, key) };
}

type Start = { key: Key } | { skipped: number };

const rowsBehind = <T>(
  { index, ranges }: List<T>,
  start: Start,
  reverse: boolean,
  limit?: number,
): Iterable<{ key: Key; found: T }> => {
  const rest =
    'key' in start
      ? ranges.map((range) => ({ ...range, after: start.key }))
      : skip(index, ranges, start.skipped, reverse);
  const span = { reverse, ...(limit !== undefined && { limit }) };
  return merge(rest ?? [], (range) => foundIn(index, { ...range, ...span }), reverse);
};

function* foundIn<T>(index: ListedIn<T>, span: Span): Iterable<{ key: Key; found: T }> {
  for (const { key, value } of index.entries(span))
    yield { key: key.slice(span.prefix.length), found: value };
}

/** @param backward the direction that is opposite to the list */
const pageBefore = (
  list: List<unknown>,
  { first, start, limit }: { first: Key | undefined; start: number; limit: number },
  backward: boolean,
): Position | undefined => {
  const { index } = list;
  const ranges = list.ranges.map((range) => ({ ...range, ...(first && { after: first }) }));
  if (!nearest(index, ranges, backward)) return undefined;
  const behind = skip(index, ranges, limit, backward);
  const key = (behind && nearest(index, behind, backward)) ?? null;
  return { key, offset: key ? Math.max(0, start - limit) : 0 };
};
