/** Sorting: numbers numerically, texts in natural order (`a2` before `a10`), and empty values last. */

export type Sortable = string | number | null | undefined;

export type Direction = 'asc' | 'desc';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

const isEmpty = (value: Sortable): value is null | undefined | '' =>
  value === null || value === undefined || value === '' || Number.isNaN(value);

export const compare = (a: Sortable, b: Sortable): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a ?? ''), String(b ?? ''));
};

/** A stable sort with empty values last in both directions. */
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

const BOTH: readonly Direction[] = ['asc', 'desc'];

export const nextDirection = (
  current: Direction | undefined,
  directions: readonly Direction[] = BOTH,
): Direction | undefined => directions[current === undefined ? 0 : directions.indexOf(current) + 1];
