import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { useFormat } from '../i18n/locale.ts';
import { type Paged, type PageOf, readRows, withHead } from './pages.ts';

export type Pages<Row> = {
  idOf: (row: Row) => string;
  rows: readonly Row[];
  /** Undefined until the first page has been read. */
  last: PageOf<Row> | undefined;
  /** The number of matching rows, if the service knows it, in the language of the console. */
  total: string | undefined;
  off: Paged<Row>['off'];
  error: unknown;
  /** Time of the last read in milliseconds. */
  at: number;
  isReading: boolean;
  hasMore: boolean;
  loadMore: () => void;
  refresh: () => void;
};

/** No cursor. */
const START = '';

export const usePages = <Row>(source: Paged<Row>): Pages<Row> => {
  const { path, query, idOf, off } = source;
  const client = useQueryClient();
  const format = useFormat();
  // The path comes first, so that a write can invalidate all reads below a path.
  const queryKey = [path, 'pages', query];
  const found = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readRows(source, pageParam, { signal }),
    // Keeps the inputs of the filters mounted, so that they keep their focus.
    placeholderData: keepPreviousData,
    initialPageParam: START,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const refresh = async (): Promise<void> => {
    const loaded = found.data?.pages ?? [];
    if (loaded.length <= 1) {
      await found.refetch();
      return;
    }
    const pages = withHead(loaded, await readRows(source, START), idOf);
    client.setQueryData(queryKey, { pages, pageParams: pages.map(() => START) });
  };
  // Rows and their page are deferred together, so that a list is not taken to be empty while its first rows are.
  const data = useDeferredValue(found.data);
  // A row that changed between the reads of two pages may be in both.
  const rows = useMemo(() => {
    const all = data?.pages.flatMap(({ items }) => items) ?? [];
    return [...new Map(all.map((row) => [idOf(row), row])).values()];
  }, [data, idOf]);
  const last = data?.pages.at(-1);
  return {
    idOf,
    rows,
    last,
    total:
      last?.total !== undefined && (last.searched ?? rows.length) === rows.length
        ? format.number(last.total)
        : undefined,
    off,
    error: found.error,
    at: found.dataUpdatedAt,
    isReading: found.isFetching,
    hasMore: found.hasNextPage,
    loadMore: () => void found.fetchNextPage(),
    refresh: () => void refresh(),
  };
};
