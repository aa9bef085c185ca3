import { useVirtualizer } from '@tanstack/react-virtual';

/**
 * Longer lists render only the visible rows: the largest page that users choose is rendered whole, but not a page of a
 * live list of the service, which is rendered again after each change of one of its rows.
 */
const ALL_MADE = 100;

const rowHeight = (): number =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row'), 10) || 34;

/** @returns the rows to render, and the height in pixels of the rows above and below them */
export const useRowsInView = <Row>(
  rows: readonly Row[],
  frame: HTMLElement | null,
): { rows: readonly Row[]; before: number; after: number } => {
  const isLong = rows.length > ALL_MADE;
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => frame,
    estimateSize: rowHeight,
    overscan: 12,
  });
  if (!isLong) return { rows, before: 0, after: 0 };
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last) return { rows: rows.slice(0, 40), before: 0, after: 0 };
  return {
    rows: rows.slice(first.index, last.index + 1),
    before: first.start,
    after: virtual.getTotalSize() - last.end,
  };
};
