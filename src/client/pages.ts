/**
 * Lists that come in pages. Awaited, it is the first page; iterated, it is every item, and pages are asked for as they
 * are needed.
 */
export type Paged<Page, Item> = Promise<Page> & AsyncIterable<Item>;

type Place = { has_more: boolean; next_cursor: string | null };

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
      for (let page = await first; ; page = await read(page.next_cursor ?? undefined)) {
        yield* itemsOf(page);
        if (!page.has_more || page.next_cursor === null) return;
      }
    },
  });
};
