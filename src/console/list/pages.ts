import { type Guard, list, number, object, optional, text } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { type Outgoing, send } from '../data/request.ts';

/** Lists that the service filters, sorts and divides into pages. */

export type PageOf<Row> = {
  items: Row[];
  /** The rows that match, or that a search examines; undefined if the service does not count them. */
  total: number | undefined;
  /** For a search: the rows that were examined so far. */
  searched: number | undefined;
  next_cursor: string | undefined;
};

/** A list of the service. */
export type Paged<Row> = Pick<Outgoing, 'path' | 'query'> & {
  guard: Guard<PageOf<Row>>;
  off?: Resource<unknown>['off'];
  idOf: (row: Row) => string;
  /** For routes in the form of OpenAI: pages are smaller, and the cursor is `after`. */
  isOpenAi?: true;
};

/** @param field the key of the response that has the rows */
export const pageOf = <Row>(row: Guard<Row>, field = 'items'): Guard<PageOf<Row>> => {
  const Rows = list(row);
  const Rest = object({ total: optional(number), searched: optional(number), next_cursor: optional(text) });
  return (value, at) => {
    const { total, searched, next_cursor, ...others } = Rest(value, at);
    // `object` keeps all other keys of the response.
    const rows = (others as Record<string, unknown>)[field];
    return { items: Rows(rows, field), total, searched, next_cursor };
  };
};

/** The sizes of a page, which are the maxima of the service. */
const PAGE = 200;
const OPENAI_PAGE = 100;

/** A search continues until it has found as many rows. */
const ENOUGH = 50;

/** The requests after which a search reports what it has found; each examines up to 1,000 rows. */
const MOST_REQUESTS = 20;

/** Reads the rows after a cursor, page by page until there are `enough`. */
export const readRows = async <Row>(
  { path, query, guard, isOpenAi }: Paged<Row>,
  /** Empty for the first page. */
  cursor: string,
  { signal, enough = ENOUGH }: { signal?: AbortSignal; enough?: number } = {},
): Promise<PageOf<Row>> => {
  const items: Row[] = [];
  const most = isOpenAi ? OPENAI_PAGE : PAGE;
  const limit = enough === ENOUGH ? most : Math.min(enough, most);
  for (let from: string | undefined = cursor, requests = 1; ; requests += 1) {
    const place = isOpenAi ? { after: from } : { cursor: from };
    const page: PageOf<Row> = await send({ path, query: { ...query, limit, ...place }, signal }, guard);
    items.push(...page.items);
    from = page.next_cursor;
    if (from === undefined || items.length >= enough || requests >= MOST_REQUESTS) return { ...page, items };
  }
};

/**
 * Updates loaded pages with the first one, read again. Rows within it are replaced or removed, and later rows stay as
 * they were read.
 */
export const withHead = <Row>(
  pages: readonly PageOf<Row>[],
  head: PageOf<Row>,
  idOf: (row: Row) => string,
): PageOf<Row>[] => {
  const all = pages.flatMap(({ items }) => items);
  const last = pages.at(-1);
  const oldest = head.items.at(-1);
  const place = oldest === undefined ? -1 : all.findIndex((row) => idOf(row) === idOf(oldest));
  // Without a common row, rows between the first page and the others would be missing.
  if (!last || head.next_cursor === undefined || place < 0) return [head];
  const fresh = new Set(head.items.map(idOf));
  const later = all.slice(place + 1).filter((row) => !fresh.has(idOf(row)));
  return [head, { ...last, total: head.total, items: later }];
};
