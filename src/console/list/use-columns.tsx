import { type ReactNode, useMemo } from 'react';
import { Ago, DateTime } from '../design/Time.tsx';
import { type Format, type Say, useFormat, useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { Column } from './column.ts';

type IdOf<K extends string> = K extends `column.${infer Id}` ? Id : never;

/** A column whose label is the text `column.<id>` of its screen, unless it has another one. */
export type Described<Row, K extends string> = Omit<Column<Row>, 'id' | 'label' | 'value'> &
  ({ id: IdOf<K>; label?: string } | { id: string; label: string }) &
  (
    | { value: Column<Row>['value'] }
    /** Cells that read their content themselves, so that the column can be neither sorted nor searched. */
    | { drawn: (row: Row) => ReactNode }
    | Time<Row>
  );

type Time<Row> = {
  /** A time, of which the age is shown, or the date. */
  at: (row: Row) => number | string | null | undefined;
  isDate?: boolean;
  /** Shown without a time. */
  none?: string;
  title?: (row: Row) => string | null | undefined;
};

export type ColumnsOf<Row, K extends string> = (t: Say<K>, format: Format) => readonly Described<Row, K>[];

const timeCell =
  <Row,>({ at, isDate, none, title }: Time<Row>): NonNullable<Column<Row>['cell']> =>
  (row) => {
    const time = at(row);
    if (none !== undefined && (time === null || time === undefined)) return none;
    const Shown = isDate ? DateTime : Ago;
    return (
      <span title={title?.(row) ?? undefined}>
        <Shown at={time} />
      </span>
    );
  };

const columnFrom = <Row, K extends string>(label: string, described: Described<Row, K>): Column<Row> => {
  if ('value' in described) return { label, ...described };
  const text = () => '';
  if ('drawn' in described) {
    const { drawn, ...column } = described;
    return { label, value: () => undefined, unsorted: true, text, cell: drawn, ...column };
  }
  const { at, isDate, none, title, ...column } = described;
  return { label, value: at, text, cell: timeCell(described), ...column };
};

/** @param columnsOf must keep its identity while the columns are the same */
export const useColumns = <Row, K extends string>(
  texts: Texts<K>,
  columnsOf: ColumnsOf<Row, K>,
): Column<Row>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(
    () =>
      columnsOf(t, format).map((column) => {
        // An id is the rest of a key that begins with `column.`.
        const key = `column.${column.id}` as K;
        return columnFrom(column.label ?? t(key), column);
      }),
    [t, format, columnsOf],
  );
};
