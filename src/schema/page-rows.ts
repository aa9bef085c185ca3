/**
 * A page of a list, which ends at its row limit or at `PAGE_BYTES` of JSON, whichever comes first, but contains at
 * least one row. Rows are read and encoded one by one, so a page of large rows costs only the rows it shows and one
 * more.
 */
export type PageRows<Row> = {
  rows: Row[];
  /** The JSON text of each row, for `listReply`. */
  texts: string[];
  /** Whether there are rows after the page. */
  more: boolean;
};

export const PAGE_BYTES = 4 * 1024 * 1024;

/** @param shown returns the client's view of a row */
export const fillPage = <Row>(
  found: Iterable<Row>,
  limit: number,
  shown: (row: Row) => unknown = (row) => row,
): PageRows<Row> => {
  const page: PageRows<Row> = { rows: [], texts: [], more: false };
  let bytes = 0;
  for (const row of found) {
    if (page.rows.length >= limit) return { ...page, more: true };
    const text = JSON.stringify(shown(row));
    bytes += Buffer.byteLength(text);
    if (page.rows.length > 0 && bytes > PAGE_BYTES) return { ...page, more: true };
    page.rows.push(row);
    page.texts.push(text);
  }
  return page;
};
