import { type ReactNode, useMemo, useState } from 'react';
import type { Loaded as Query, Resource } from '../data/queries.ts';
import { Button, NewLabel } from '../design/Button.tsx';
import { Page } from '../design/Layout.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { useMedia } from '../design/use-media.ts';
import { type Say, useFormat, useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { BulkAction } from './BulkBar.tsx';
import type { Column } from './column.ts';
import type { Filter } from './FilterBar.tsx';
import { freshOf } from './Freshness.tsx';
import { List } from './List.tsx';
import type { ListProps } from './list-props.ts';
import { PagedList } from './PagedList.tsx';
import type { MenuItem } from './RowMenu.tsx';
import { type ColumnsOf, useColumns } from './use-columns.tsx';
import type { Pages } from './use-pages.ts';
import { useQueryState } from './use-query-state.ts';

const NO_FILTERS: readonly Filter[] = [];

export type ListKeys = 'title' | 'purpose' | 'search' | 'empty.title' | 'empty.text';

/** Content over the list, such as a dialog, that closes itself. */
type Opened = (close: () => void) => ReactNode;

/** An item of the menu of a row, which may open a dialog. */
export type RowItem = MenuItem | (Omit<MenuItem, 'act'> & { dialog: Opened });

/** An action for the selected rows, which may open a dialog. */
type RowsAction<Row> =
  | BulkAction<Row>
  | (Omit<BulkAction<Row>, 'run'> & { dialog: (rows: readonly Row[], close: () => void) => ReactNode });

/** The button that creates an entry, and its dialog, which is open while the address has `new`. */
export type Creation = {
  label: string;
  /** The accessible name begins with a plus. */
  hasPlus?: boolean;
  dialog: Opened;
};

type Source<Row> =
  /** The rows of a query, */
  | {
      query: Query<unknown>;
      off?: Resource<unknown>['off'];
      rows: readonly Row[];
      rowId: (row: Row) => string;
      pages?: undefined;
      isSearchedHere?: undefined;
      isRanked?: undefined;
    }
  /** or the pages of a list of the service, with those of their rows that are listed. */
  | {
      pages: Pages<Row>;
      rows?: readonly Row[];
      isSearchedHere?: boolean;
      isRanked?: boolean;
      query?: undefined;
      off?: undefined;
      rowId?: undefined;
    };

type OfSource = 'rows' | 'rowId' | 'fresh' | 'isPaged' | 'after';

export type ListScreenProps<Row, K extends string> = Omit<
  ListProps<Row>,
  OfSource | 'columns' | 'filters' | 'menu' | 'bulk' | 'empty' | 'searchPlaceholder'
> & {
  texts: Texts<K>;
  /** Keeps its identity while the columns are the same. */
  columns: ColumnsOf<Row, K>;
  /** Items that do not apply to a row, and actions that are not allowed, are false. */
  menu?: (row: Row) => readonly (RowItem | false)[];
  bulk?: readonly (RowsAction<Row> | false)[];
  filters?: (t: Say<K>) => readonly Filter[];
  controls?: ReactNode;
  /** Number in the title, by default that of the rows. */
  count?: string | undefined;
  create?: Creation | false;
  head?: ReactNode;
  /** The action of the empty screen, by default the creation of an entry. */
  first?: ReactNode;
  /** Shown without rows, by default the texts of the screen and the action. */
  empty?: ReactNode;
  /** The list takes the height of the window. */
  fills?: boolean;
  above?: ReactNode;
  /** Shown in place of the list. */
  instead?: ReactNode;
  children?: ReactNode;
} & Source<Row>;

const NARROW = '(max-width: 767px)';

/** The columns, of which a narrow window first shows the most important ones. */
const useFitting = <Row,>(columns: readonly Column<Row>[]): readonly Column<Row>[] => {
  const isNarrow = useMedia(NARROW);
  return useMemo(
    () => (isNarrow ? columns.map((each) => (each.isWide ? { ...each, isExtra: true } : each)) : columns),
    [columns, isNarrow],
  );
};

/** The actions with functions that open their dialogs, and the open dialog. */
const useDialogs = <Row,>(
  menu: ((row: Row) => readonly (RowItem | false)[]) | undefined,
  bulk: readonly (RowsAction<Row> | false)[] = [],
) => {
  const [opened, open] = useState<{ dialog: Opened }>();
  return {
    menu:
      menu &&
      ((row: Row) =>
        menu(row)
          .filter((item) => item !== false)
          .map((item) => ('dialog' in item ? { ...item, act: () => open(item) } : item))),
    bulk: bulk
      .filter((action) => action !== false)
      .map((action) => {
        if (!('dialog' in action)) return action;
        const { dialog } = action;
        return { ...action, run: (rows: readonly Row[]) => open({ dialog: (close) => dialog(rows, close) }) };
      }),
    dialog: opened?.dialog(() => open(undefined)),
  };
};

/** The button that creates an entry, and the dialog while it is open. */
const useCreation = (create: Creation | false | undefined) => {
  const [{ new: isNew }, setQuery] = useQueryState();
  if (!create) return {};
  const { label, hasPlus, dialog } = create;
  return {
    button: (
      <Button
        tone="primary"
        {...(!hasPlus && { icon: 'plus' })}
        onClick={() => setQuery({ new: '1' })}
        data-new
      >
        {hasPlus ? <NewLabel>{label}</NewLabel> : label}
      </Button>
    ),
    dialog: isNew === '1' && dialog(() => setQuery({ new: undefined })),
  };
};

/**
 * A screen that is a list.
 *
 * @example
 * <ListScreen name="users" texts={texts} pages={pages} columns={columnsOf} />
 */
export const ListScreen = <Row, K extends string>(props: ListScreenProps<Row, K | ListKeys>) => {
  const { texts, query, off, pages, isSearchedHere, isRanked, rows, rowId, columns, filters, ...rest } =
    props;
  const { controls, menu, bulk, create, first, empty, count, head, fills, ...others } = rest;
  const { above, instead, children, ...list } = others;
  const t = useTexts(texts);
  const say: Say<ListKeys> = t;
  const format = useFormat();
  const { dialog, ...acts } = useDialogs(menu, bulk);
  const creation = useCreation(create);
  const shared = {
    ...list,
    ...acts,
    columns: useFitting(useColumns(texts, columns)),
    filterBy: useMemo(() => filters?.(t), [filters, t]) ?? list.filterBy ?? NO_FILTERS,
    filters: controls,
    searchPlaceholder: say('search'),
    empty: empty || (
      <EmptyState title={say('empty.title')} actions={first ?? creation.button}>
        {say('empty.text')}
      </EmptyState>
    ),
  };
  const all = rows ?? pages?.rows ?? [];
  const isCountedHere = pages ? pages.last && pages.last.total === undefined : query.data !== undefined;
  const counted = isCountedHere ? `${format.number(all.length)}${pages?.hasMore ? '+' : ''}` : pages?.total;
  return (
    <Page
      title={say('title')}
      count={count ?? counted}
      purpose={say('purpose')}
      actions={head ?? creation.button}
      fills={fills}
    >
      {above}
      {instead ||
        (pages ? (
          <PagedList
            {...shared}
            pages={pages}
            rows={all}
            rowId={pages.idOf}
            isSearchedHere={isSearchedHere}
            isRanked={isRanked}
          />
        ) : (
          <Loaded query={query} off={off}>
            {() => <List {...shared} rows={all} rowId={rowId} fresh={freshOf(query)} />}
          </Loaded>
        ))}
      {children}
      {creation.dialog}
      {dialog}
    </Page>
  );
};
