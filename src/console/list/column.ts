import type { ReactNode } from 'react';
import type { Sortable } from './order.ts';

export type Column<Row> = {
  id: string;
  label: string;
  /** What the column is sorted by, and searched in unless `text` says otherwise. */
  value: (row: Row) => Sortable;
  /** What a search looks at. */
  text?: (row: Row) => string;
  /** `mark` shows a text with what was searched for in it. Without it, the value. */
  cell?: (row: Row, mark: (text: string) => ReactNode) => ReactNode;
  /** Numbers stand at the end of their cell. */
  align?: 'end';
  /** Of CSS, such as `20%`. */
  width?: string;
  /** It has no order that means anything. */
  unsorted?: boolean;
  /** It cannot be hidden. */
  always?: boolean;
};
