/** Splits long work into slices that yield to the event loop. After a stop the store may be closed. */

/** Rows read, and items processed, per event-loop tick. */
const ROWS_A_TICK = 256;
export const ITEMS_A_TICK = 32;

/** Reads all rows of a list, page by page. */
export const eachRow = async <Row>(
  read: (after: Row | undefined, limit: number) => Row[],
  note: (row: Row) => void,
  isStopped: () => boolean,
): Promise<void> => {
  let after: Row | undefined;
  while (!isStopped()) {
    const page = read(after, ROWS_A_TICK);
    for (const row of page) note(row);
    after = page.at(-1);
    await nextTick();
    if (after === undefined) return;
  }
};

/** Processes the items of a slice concurrently. `report` receives the number of processed items. */
export const inSlices = async <Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
  { isStopped, report }: { isStopped: () => boolean; report?: (done: number) => void },
): Promise<void> => {
  for (let first = 0; first < items.length && !isStopped(); first += ITEMS_A_TICK) {
    await Promise.all(items.slice(first, first + ITEMS_A_TICK).map(act));
    report?.(Math.min(items.length, first + ITEMS_A_TICK));
    await nextTick();
  }
};

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
