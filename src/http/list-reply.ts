import { JSON_TYPE, type Reply, textReply } from './reply.ts';

/**
 * Replies with a list of rows that are JSON already: `{"items":[row,row],"total":2}`.
 *
 * @example listReply('items', page.texts, { total, has_more: page.more })
 */
export const listReply = (name: string, rows: readonly string[], rest: object = {}): Reply =>
  textReply([...jsonOfList(name, rows, rest)].join(''), JSON_TYPE);

/**
 * Replies with a list without pages: rows are generated as the client reads, so the list may be longer than a string.
 * An error in a row closes the connection, because the head of the response has been sent by then.
 */
export const longListReply = (name: string, rows: Iterable<string>, rest: object = {}): Reply =>
  textReply({ pieces: jsonOfList(name, rows, rest)[Symbol.iterator]() }, JSON_TYPE);

function* jsonOfList(name: string, rows: Iterable<string>, rest: object): Iterable<string> {
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for (const row of rows) {
    yield separator + row;
    separator = ',';
  }
  const others = JSON.stringify(rest).slice(1);
  yield others === '}' ? ']}' : `],${others}`;
}

/** Encodes each row when it is consumed. */
export function* jsonOfEach(rows: Iterable<unknown>): Iterable<string> {
  for (const row of rows) yield JSON.stringify(row);
}
