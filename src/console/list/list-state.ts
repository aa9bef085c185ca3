import type { Direction } from './order.ts';

/** The state of a list as stored in the address. Defaults are left out. */

export const SIZES = [10, 20, 50, 100] as const;
const USUAL_SIZE = 20;

export type Sorting = { id: string; direction: Direction };

export type ListState = {
  q: string;
  /** Undefined for the original order. */
  sort: Sorting | undefined;
  size: number;
  /** Starts at 1; may exceed the number of pages. */
  page: number;
};

export type Query = Readonly<Record<string, string | undefined>>;

/** Validates every value, because an address may be edited by hand. */
export const readListState = (
  query: Query,
  columns: readonly string[],
  usualSort: Sorting | undefined,
): ListState => {
  const size = Number(query.size);
  const page = Number(query.page);
  return {
    q: query.q ?? '',
    sort: sortOf(query, columns, usualSort),
    size: SIZES.some((known) => known === size) ? size : USUAL_SIZE,
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
};

const sortOf = (
  { sort, dir }: Query,
  columns: readonly string[],
  usual: Sorting | undefined,
): Sorting | undefined => {
  if (sort === NO_SORT) return undefined;
  if (sort === undefined || !columns.includes(sort)) return usual;
  return { id: sort, direction: dir === 'desc' ? 'desc' : 'asc' };
};

/** Used only if a list has a default order and is shown unsorted. */
const NO_SORT = 'none';

export type QueryChange = Record<string, string | undefined>;

/**
 * The change of the address for a change of the state. All changes except a change of page return to the first page.
 */
export const writeListState = (change: Partial<ListState>, usualSort: Sorting | undefined): QueryChange => ({
  ...('q' in change && { q: change.q || undefined }),
  ...('sort' in change && writeSort(change.sort, usualSort)),
  ...(change.size !== undefined && { size: change.size === USUAL_SIZE ? undefined : String(change.size) }),
  page: change.page !== undefined && change.page > 1 ? String(change.page) : undefined,
});

const writeSort = (sort: Sorting | undefined, usual: Sorting | undefined): QueryChange => {
  if (sort?.id === usual?.id && sort?.direction === usual?.direction)
    return { sort: undefined, dir: undefined };
  if (!sort) return { sort: NO_SORT, dir: undefined };
  return { sort: sort.id, dir: sort.direction === 'desc' ? 'desc' : undefined };
};

/** The page, limited to the existing pages. */
export const pageWithin = (page: number, size: number, count: number): number =>
  Math.min(page, Math.max(1, Math.ceil(count / size)));

/** `shown` are the extra columns that the user has chosen. */
export type ColumnChoice = { order: readonly string[]; hidden: readonly string[]; shown?: readonly string[] };

type Choosable = { id: string; always?: boolean | undefined; isExtra?: boolean | undefined };

export const isShown = ({ id, always, isExtra }: Choosable, { hidden, shown }: ColumnChoice): boolean =>
  always === true || (isExtra ? (shown?.includes(id) ?? false) : !hidden.includes(id));

/**
 * The columns in the chosen order without the hidden ones. A column that is unknown to the stored choice keeps its
 * position.
 */
export const chosenColumns = <C extends Choosable>(columns: readonly C[], choice: ColumnChoice): C[] => {
  const rank = (column: C): number => {
    const at = choice.order.indexOf(column.id);
    return at < 0 ? columns.indexOf(column) : at;
  };
  return columns
    .filter((column) => isShown(column, choice))
    .sort((a, b) => rank(a) - rank(b) || columns.indexOf(a) - columns.indexOf(b));
};
