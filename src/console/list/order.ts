/** The order of rows: numbers as numbers, texts as people count (`a2` before `a10`), and what is empty last. */

export type Sortable = string | number | null | undefined;

export type Direction = 'asc' | 'desc';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

const isEmpty = (value: Sortable): value is null | undefined | '' =>
  value === null || value === undefined || value === '' || Number.isNaN(value);

export const compare = (a: Sortable, b: Sortable): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a ?? ''), String(b ?? ''));
};

/** Rows that are equal stay in their order. Empty ones are last in both directions. */
export const sorted = <Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => Sortable,
  direction: Direction,
): Row[] => {
  const sign = direction === 'asc' ? 1 : -1;
  return rows
    .map((row) => ({ row, value: keyOf(row) }))
    .sort((a, b) => {
      const [left, right] = [isEmpty(a.value), isEmpty(b.value)];
      if (left || right) return Number(left) - Number(right);
      return sign * compare(a.value, b.value);
    })
    .map(({ row }) => row);
};

/** Up, down, as it was. */
export const nextDirection = (current: Direction | undefined): Direction | undefined =>
  current === undefined ? 'asc' : current === 'asc' ? 'desc' : undefined;
