import { type ReactNode, useMemo } from 'react';
import type { Loaded as Query, Resource } from '../data/queries.ts';
import { Page } from '../design/Layout.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { useMedia } from '../design/use-media.ts';
import { type Say, useFormat, useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { Column } from './column.ts';
import type { Filter } from './FilterBar.tsx';
import { freshOf } from './Freshness.tsx';
import { List } from './List.tsx';
import type { ListProps } from './list-props.ts';
import { PagedList } from './PagedList.tsx';
import { type ColumnsOf, useColumns } from './use-columns.tsx';
import type { Pages } from './use-pages.ts';

const NO_FILTERS: readonly Filter[] = [];

export type ListKeys = 'title' | 'purpose' | 'search' | 'empty.title' | 'empty.text';

export type ListScreenProps<Row, K extends string> = Omit<
  ListProps<Row>,
  'rows' | 'columns' | 'filters' | 'fresh' | 'empty' | 'searchPlaceholder' | 'isPaged' | 'after'
> & {
  texts: Texts<K>;
  /** Either the rows of a query, */
  query?: Query<unknown>;
  off?: Resource<unknown>['off'];
  /** or the pages of a list of the service, with those of their rows that are listed. */
  pages?: Pages<Row>;
  isSearchedHere?: boolean;
  isRanked?: boolean;
  rows?: readonly Row[];
  /** Keeps its identity while the columns are the same. */
  columns: ColumnsOf<Row, K>;
  filters?: (t: Say<K>) => readonly Filter[];
  controls?: ReactNode;
  /** Number in the title, by default that of the rows. */
  count?: string | undefined;
  head?: ReactNode;
  /** The action of the empty screen. */
  first?: ReactNode;
  /** Shown without rows, by default the texts of the screen and the action. */
  empty?: ReactNode;
  /** The list takes the height of the window. */
  fills?: boolean;
  above?: ReactNode;
  /** Shown in place of the list. */
  instead?: ReactNode;
  children?: ReactNode;
};

const NARROW = '(max-width: 767px)';

/** The columns, of which a narrow window first shows the most important ones. */
const useFitting = <Row,>(columns: readonly Column<Row>[]): readonly Column<Row>[] => {
  const isNarrow = useMedia(NARROW);
  return useMemo(
    () => (isNarrow ? columns.map((each) => (each.isWide ? { ...each, isExtra: true } : each)) : columns),
    [columns, isNarrow],
  );
};

/**
 * A screen that is a list.
 *
 * @example
 * <ListScreen name="users" texts={texts} pages={pages} columns={columnsOf} rowId={({ id }) => id} />
 */
export const ListScreen = <Row, K extends string>(props: ListScreenProps<Row, K | ListKeys>) => {
  const { texts, query, off, pages, isSearchedHere, isRanked, rows, columns, filters, count, ...rest } =
    props;
  const { controls, head, first, fills, above, instead, children, ...list } = rest;
  const t = useTexts(texts);
  const say: Say<ListKeys> = t;
  const format = useFormat();
  const shared = {
    ...list,
    columns: useFitting(useColumns(texts, columns)),
    filterBy: useMemo(() => filters?.(t), [filters, t]) ?? list.filterBy ?? NO_FILTERS,
    filters: controls,
    searchPlaceholder: say('search'),
    empty: props.empty || (
      <EmptyState title={say('empty.title')} actions={first}>
        {say('empty.text')}
      </EmptyState>
    ),
  };
  const all = rows ?? pages?.rows ?? [];
  const usual = pages ? pages.total : query?.data !== undefined ? format.number(all.length) : undefined;
  return (
    <Page title={say('title')} count={count ?? usual} purpose={say('purpose')} actions={head} fills={fills}>
      {above}
      {instead ||
        (pages ? (
          <PagedList
            {...shared}
            pages={pages}
            rows={all}
            isSearchedHere={isSearchedHere}
            isRanked={isRanked}
          />
        ) : (
          query && (
            <Loaded query={query} off={off}>
              {() => <List {...shared} rows={all} fresh={freshOf(query)} />}
            </Loaded>
          )
        ))}
      {children}
    </Page>
  );
};
