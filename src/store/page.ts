import { z } from 'zod';
import { type Key, MAX_ID_BYTES } from './keys.ts';
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

export type PageOf<T> = { items: T[]; total: number; offset: number; next?: Position; prev?: Position };

export const readPage = <T>(
  { index, prefix, total }: { index: Table<T>; prefix: Key; total: number },
  { offset, limit, after }: Page,
): PageOf<T> => {
  const skipped = after?.offset ?? offset;
  const span: Span = {
    prefix,
    limit: limit + 1,
    ...(after?.key ? { after: after.key } : { offset: skipped }),
  };
  const rows = Array.from(index.entries(span), ({ key, value }) => ({
    key: key.slice(prefix.length),
    value,
  }));
  const more = rows.length > limit;
  const shown = more ? rows.slice(0, limit) : rows;
  const last = shown.at(-1);
  const start = Math.min(skipped, total);
  const prev = skipped === 0 ? undefined : pageBefore(index, prefix, { first: shown[0]?.key, start, limit });
  return {
    items: shown.map((row) => row.value),
    total,
    offset: skipped,
    ...(more && last && { next: { key: last.key, offset: skipped + shown.length } }),
    ...(prev && { prev }),
  };
};

const pageBefore = (
  index: Table<unknown>,
  prefix: Key,
  { first, start, limit }: { first: Key | undefined; start: number; limit: number },
): Position | undefined => {
  const before: Span = { prefix, reverse: true, ...(first && { after: first }) };
  if (!index.firstKey(before)) return undefined;
  const key = index.firstKey({ ...before, offset: limit })?.slice(prefix.length) ?? null;
  return { key, offset: key ? Math.max(0, start - limit) : 0 };
};
