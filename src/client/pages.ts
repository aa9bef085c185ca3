/**
 * A paged list. Awaiting it returns the first page; iterating it yields all items and requests pages on demand.
 *
 * @example
 * ```ts
 * const { total } = await client.runs.list({ status: 'waiting', limit: 1 });
 * console.log(`${total} runs wait:`);
 * for await (const { run_id } of client.runs.list({ status: 'waiting' })) console.log(run_id);
 * ```
 */
export type Paged<Page, Item> = Promise<Page> & AsyncIterable<Item>;

/** The last page has no cursor, or `has_more` is false. */
type Place = { has_more?: boolean; next_cursor?: string | null | undefined };

/**
 * @param read requests a page from a cursor on
 * @param itemsOf returns the items of a page in their order
 */
export const paged = <Page extends Place, Item>(
  read: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  start?: string,
): Paged<Page, Item> => {
  const first = read(start);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
      for (let page = await first; ; ) {
        yield* itemsOf(page);
        const { has_more = true, next_cursor } = page;
        if (!has_more || typeof next_cursor !== 'string') return;
        page = await read(next_cursor);
      }
    },
  });
};
