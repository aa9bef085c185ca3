import { useMemo } from 'react';
import { useQueryState } from '../list/use-query-state.ts';
import { columnsIn, isByCase, type Side } from './compare.ts';
import { columnOf } from './report.ts';

/** The compared sides: two sets of results, or two columns of the matrix that the address names. */
export type Sides = {
  after: Side;
  /** Undefined if the results are listed without a comparison. */
  before: Side | undefined;
  /** Undefined if there is only one column on each side. */
  choice: Choice | undefined;
  isComparable: boolean;
};

/** The column of a side is empty if all columns are compared, each with itself. */
type Choice = {
  a: string;
  b: string;
  before: readonly string[];
  after: readonly string[];
  hasWhole: boolean;
};

type Wanted = { a?: string | undefined; b?: string | undefined };

const columnIn = (side: Side, column: string, isNamed: boolean): Side => ({
  label: isNamed ? column : side.label,
  items: side.items.filter((item) => columnOf(item) === column),
});

const found = (columns: readonly string[], wanted: string | undefined): string | undefined =>
  columns.find((column) => column === wanted);

export const sidesOf = (after: Side, before: Side | undefined, wanted: Wanted): Sides => {
  const columns = columnsIn(after.items);
  const earlier = before ? columnsIn(before.items) : columns;
  if (!before && columns.length < 2) return { after, before, choice: undefined, isComparable: false };
  const hasWhole = before !== undefined && !isByCase(after.items, before.items);
  const hasChoice = columns.length > 1 || earlier.length > 1;
  const choice = { before: earlier, after: columns, hasWhole };
  const [a, b] = [found(earlier, wanted.a), found(columns, wanted.b)];
  if (hasWhole && a === undefined && b === undefined)
    return { after, before, choice: hasChoice ? { ...choice, a: '', b: '' } : undefined, isComparable: true };
  const left = a ?? (before ? found(earlier, b) : earlier.find((column) => column !== b)) ?? earlier[0] ?? '';
  const right =
    b ?? (before ? found(columns, left) : columns.find((column) => column !== left)) ?? columns[0] ?? '';
  const isNamed = left !== right;
  return {
    after: columnIn(after, right, isNamed),
    before: columnIn(before ?? after, left, isNamed),
    choice: hasChoice ? { ...choice, a: left, b: right } : undefined,
    isComparable: true,
  };
};

export const useSides = (after: Side, before: Side | undefined): Sides => {
  const [{ a, b, view }] = useQueryState();
  return useMemo(() => {
    const sides = sidesOf(after, before, { a, b });
    return view === 'list' && sides.isComparable
      ? { ...sides, after, before: undefined, choice: undefined }
      : sides;
  }, [after, before, a, b, view]);
};
