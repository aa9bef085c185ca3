import type { Direction } from './order.ts';

/** What a list shows, as its address says. What is as usual is not said. */

export const SIZES = [10, 20, 50, 100] as const;
const USUAL_SIZE = 20;

export type Sorting = { id: string; direction: Direction };

export type ListState = {
  q: string;
  /** Undefined: in the order in which they come. */
  sort: Sorting | undefined;
  size: number;
  /** From 1; perhaps more than there are. */
  page: number;
};

export type Query = Readonly<Record<string, string | undefined>>;

/** Takes nothing for granted: whoever wrote the address may have erred. */
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

/** Said only where a list has a usual order and is shown without any. */
const NO_SORT = 'none';

export type QueryChange = Record<string, string | undefined>;

/** What a change of the state changes in the address. Any but a change of page leads back to the first. */
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

/** A page that there is. */
export const pageWithin = (page: number, size: number, count: number): number =>
  Math.min(page, Math.max(1, Math.ceil(count / size)));

export type ColumnChoice = { order: readonly string[]; hidden: readonly string[] };

/** The columns as their user wants them; what he does not know of stays where it is. */
export const chosenColumns = <C extends { id: string; always?: boolean | undefined }>(
  columns: readonly C[],
  choice: ColumnChoice,
): C[] => {
  const rank = (column: C): number => {
    const at = choice.order.indexOf(column.id);
    return at < 0 ? columns.indexOf(column) : at;
  };
  return columns
    .filter(({ id, always }) => always || !choice.hidden.includes(id))
    .sort((a, b) => rank(a) - rank(b) || columns.indexOf(a) - columns.indexOf(b));
};
