/**
 * Lists that come in pages. Awaited, it is the first page; iterated, it is every item, and pages are asked for as they
 * are needed.
 */
export type Paged<Page, Item> = Promise<Page> & AsyncIterable<Item>;

/** The last page has no cursor, or says that no more comes. */
type Place = { has_more?: boolean; next_cursor?: string | null | undefined };

/**
 * @param read a page, from a cursor on
 * @param itemsOf a page, in their order
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
