import type { ReactNode } from 'react';
import type { Direction, Sortable } from './order.ts';

export type Column<Row> = {
  id: string;
  label: string;
  /** Sort key of the column, which is also its searchable text unless `text` is given. */
  value: (row: Row) => Sortable;
  text?: (row: Row) => string;
  /** Content of the cell, by default the value. `mark` highlights the matches of the search in a text. */
  cell?: (row: Row, mark: (text: string) => ReactNode) => ReactNode;
  /** Aligns numbers at the end of the cell. */
  align?: 'end';
  isCode?: boolean;
  /** CSS width, such as `20%`. */
  width?: string;
  /**
   * Texts of the column are shortened with an ellipsis if the table is wider than its frame; `chip` leaves space for a
   * chip.
   */
  shortened?: boolean | 'chip';
  unsorted?: boolean;
  /** The order in which a click on the head sorts, if the service has no other. */
  sorts?: readonly Direction[];
  always?: boolean;
  /** The column is hidden until the user shows it. */
  isExtra?: boolean;
  /** The column is such an extra in narrow windows. */
  isWide?: boolean;
};

export const textIn = <Row>(column: Column<Row>, row: Row): string =>
  column.text?.(row) ?? String(column.value(row) ?? '');
