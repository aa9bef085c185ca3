import type { Guard } from './guard.ts';
import { type Outgoing, send } from './request.ts';

/** Reads page after page, until the last one or the limit. */
export async function* readPages<Page extends { next_cursor?: string | undefined; has_more?: boolean }>(
  request: Outgoing,
  guard: Guard<Page>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Page> {
  let cursor: string | undefined;
  for (let pages = 0; pages < most; pages += 1) {
    const page: Page = await send({ ...request, query: { ...request.query, cursor } }, guard);
    yield page;
    cursor = page.next_cursor;
    if (cursor === undefined || page.has_more === false) return;
  }
}
