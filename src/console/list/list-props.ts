import type { ReactNode } from 'react';
import type { BulkAction } from './BulkBar.tsx';
import type { Column } from './column.ts';
import type { Filter } from './FilterBar.tsx';
import type { Fresh } from './Freshness.tsx';
import type { Sorting } from './list-state.ts';
import type { MenuItem } from './RowMenu.tsx';
import type { Listed } from './use-list.ts';

/** Properties of a list, and those that it passes to its parts. */

export type ListProps<Row> = {
  /** Key under which the choice of columns is stored. */
  name: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  /** Link target of a row; undefined if the row has none or `onOpen` is used instead. */
  rowHref?: ((row: Row) => string | undefined) | undefined;
  onOpen?: (row: Row) => void;
  /** Id of the row whose details are open. */
  openId?: string | undefined;
  actions?: (row: Row) => ReactNode;
  /** Actions of each row in a menu, to which the list adds that of copying the id. */
  menu?: (row: Row) => readonly MenuItem[];
  /** Content of an export of the selection, by default its rows. */
  exported?: (rows: readonly Row[]) => Promise<unknown>;
  bulk?: readonly BulkAction<Row>[];
  hasCards?: boolean;
  usualSort?: Sorting;
  searchPlaceholder?: string;
  /** Filters behind one button, each in a query parameter. */
  filterBy?: readonly Filter[];
  /** Other filters next to the search. Their state is in the address, too. */
  filters?: ReactNode;
  /** Query parameters of the filters, removed when the filters are cleared. */
  filterKeys?: readonly string[];
  tools?: ReactNode;
  fresh?: Fresh;
  empty: ReactNode;
  /** Shows all rows on one page. Beyond a hundred, only the visible rows are rendered. */
  unpaged?: boolean;
  /** The service has found and sorted the rows, all of which are shown. */
  isPaged?: boolean;
  /** Content below the rows, such as a button that loads more. */
  after?: ReactNode;
};

export type TableProps<R> = ListProps<R> & {
  listed: Listed<R>;
  /** The scrolling element; null until it exists. */
  frame: HTMLElement | null;
  selected: ReadonlySet<string>;
  select: (ids: ReadonlySet<string>) => void;
};
