import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { statusOf } from '../../data/error.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { send } from '../../data/request.ts';
import type { Pages } from '../../list/use-pages.ts';
import { type AuditEvent, type AuditFilter, AuditPage, merged, queriesOf } from './audit-event.ts';

/** The loaded part of the log, and newer events. */

const PATH = '/v1/audit-log';

const AUDIT_OFF = { statuses: [404, 503], setting: 'SERVICE_AUDIT_LOG_ENABLED' } as const;

const TAIL_MS = 5000;

/** The cursor of each query; undefined starts at the beginning, null marks its end. */
type Cursors = readonly (string | undefined | null)[];

type Page = { events: AuditEvent[]; next: Cursors };

const readPage = async (filter: AuditFilter, cursors: Cursors, signal: AbortSignal): Promise<Page> => {
  const pages = await Promise.all(
    queriesOf(filter, Date.now()).map(async (query, index) => {
      const cursor = cursors[index];
      if (cursor === null) return { items: [], next_cursor: undefined };
      return send({ path: PATH, query: { ...query, cursor }, signal }, AuditPage);
    }),
  );
  return {
    events: merged(pages.map(({ items }) => items)),
    next: pages.map(({ next_cursor }) => next_cursor ?? null),
  };
};

const tailOf = (filter: AuditFilter, newest: AuditEvent | undefined, isOn: boolean): Resource<AuditPage> => ({
  path: PATH,
  query: { ...queriesOf(filter, Date.now())[0], since: newest?.ts },
  guard: AuditPage,
  every: isOn ? TAIL_MS : undefined,
});

export const useAudit = (filter: AuditFilter, isTail: boolean): Pages<AuditEvent> => {
  const query = useInfiniteQuery({
    queryKey: [PATH, 'pages', filter],
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    // Keeps the filters mounted, so that they keep their focus.
    placeholderData: keepPreviousData,
    initialPageParam: [] as Cursors,
    getNextPageParam: ({ next }) => (next.some((cursor) => cursor !== null) ? next : undefined),
    retry: (count, error) => count < 1 && (statusOf(error) ?? 0) >= 500 && statusOf(error) !== 503,
  });
  const loaded = useMemo(() => merged(query.data?.pages.map(({ events }) => events) ?? []), [query.data]);
  // Tailing reads from the newest loaded event, which is fixed once the pages are loaded, so that loaded rows do not
  // shift.
  const isFollowing = isTail && query.data !== undefined;
  const tail = useResource(tailOf(filter, loaded[0], isFollowing), isFollowing).data?.items;
  const events = useMemo(
    () => (tail && isFollowing ? merged([tail, loaded]) : loaded),
    [tail, isFollowing, loaded],
  );
  return {
    idOf: ({ id }) => id,
    rows: events,
    last: query.data && { items: loaded, total: undefined, searched: undefined, next_cursor: undefined },
    total: undefined,
    off: AUDIT_OFF,
    error: query.error,
    at: query.dataUpdatedAt,
    isReading: query.isFetching,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  };
};
