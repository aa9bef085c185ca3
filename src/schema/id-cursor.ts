import { isUlid } from './audit-event.ts';
import { Invalid } from './outcome.ts';

/** Cursors of lists that are ordered by ULIDs: the id of the last event of a page, in an opaque form. */

export const cursorAt = (id: string): string => Buffer.from(id).toString('base64url');

/** @throws Invalid `invalid cursor` */
export const idAt = (cursor: string): string => {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!isUlid(id) || cursorAt(id) !== cursor) throw new Invalid('invalid cursor');
  return id;
};
