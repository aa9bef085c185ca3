/**
 * Where a page of a list ends: at its row limit or at `PAGE_BYTES` of JSON, whichever comes first, but not before its
 * first row. Rows are read and encoded one by one, so a page of large rows costs what it shows and one row more.
 */
export type PageRows<Row> = {
  rows: Row[];
  /** The JSON of each row, for `listReply`. */
  texts: string[];
  /** There are rows behind the page. */
  more: boolean;
};

export const PAGE_BYTES = 4 * 1024 * 1024;

/** @param shown what a client sees of a row */
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
