import type { ReactNode, RefObject } from 'react';
import type { BulkAction } from './BulkBar.tsx';
import type { Column } from './column.ts';
import type { Fresh } from './Freshness.tsx';
import type { Sorting } from './list-state.ts';
import type { Listed } from './use-list.ts';

/** What a list is given, and what it gives its parts. */

export type ListProps<Row> = {
  /** Under which the choice of columns is kept. */
  name: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  /** Where a row leads. Undefined: nowhere, or `onOpen` does something else. */
  rowHref?: ((row: Row) => string | undefined) | undefined;
  onOpen?: (row: Row) => void;
  /** The row whose details are open. */
  openId?: string | undefined;
  /** At the right of each row. */
  actions?: (row: Row) => ReactNode;
  /** What a selection is exported as; left out: as its rows. */
  exported?: (rows: readonly Row[]) => Promise<unknown>;
  bulk?: readonly BulkAction<Row>[];
  usualSort?: Sorting;
  searchPlaceholder?: string;
  /** Beside the search. They keep their state in the address too. */
  filters?: ReactNode;
  /** Keys of the address that filters use: who clears them clears these. */
  filterKeys?: readonly string[];
  /** At the right of the bar. */
  tools?: ReactNode;
  fresh?: Fresh;
  /** Shown when there are no rows at all. */
  empty: ReactNode;
  /** All rows on one page: beyond some hundreds, only those in view are made. */
  unpaged?: boolean;
  /** Below the rows, such as a button for more. */
  after?: ReactNode;
};

export type TableProps<R> = ListProps<R> & {
  listed: Listed<R>;
  /** What scrolls. */
  frame: RefObject<HTMLElement | null>;
  selected: ReadonlySet<string>;
  select: (ids: ReadonlySet<string>) => void;
};
