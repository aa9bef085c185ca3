import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { ErrorBox } from '../../design/Loaded.tsx';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { List } from '../../list/List.tsx';
import { TextFilter } from '../../list/TextFilter.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { shortId } from '../../runs/RunChip.tsx';
import { threadHref } from '../../runs/run.ts';
import { useMoved } from '../../runs/use-moved.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Threads.module.css';
import { texts } from './texts.ts';
import { SUMMARIES, type Summary, SummaryPage } from './thread.ts';

const PAGE = 100;

type Filter = {
  resource_id: string | undefined;
  parent_thread_id: string | undefined;
  root: true | undefined;
};

const useThreads = (filter: Filter) => {
  const query = useInfiniteQuery({
    queryKey: [SUMMARIES, 'pages', filter],
    queryFn: ({ pageParam, signal }) =>
      send({ path: SUMMARIES, query: { ...filter, limit: PAGE, cursor: pageParam }, signal }, SummaryPage),
    // The field of a filter keeps its focus.
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor, has_more }) => (has_more ? next_cursor : undefined),
  });
  // Whoever reads on does not want what he has read to be read anew under him.
  const isShort = (query.data?.pages.length ?? 0) <= 1;
  useMoved({ machine: 'thread' }, () => {
    if (isShort) void query.refetch();
  });
  // What changed between two pages may be in both.
  const threads = useMemo(
    () => [
      ...new Map(query.data?.pages.flatMap(({ items }) => items).map((item) => [item.id, item])).values(),
    ],
    [query.data],
  );
  return { query, threads, total: query.data?.pages[0]?.total ?? 0 };
};

const useColumns = (): Column<Summary>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'title',
        label: t('column.title'),
        always: true,
        unsorted: true,
        value: ({ title, id }) => title ?? id,
        text: ({ title, id }) => `${title ?? ''} ${id}`,
        cell: ({ title, id }, mark) => (
          <span className={title === undefined ? css.mono : undefined} title={id}>
            {mark(title ?? shortId(id))}
          </span>
        ),
      },
      {
        id: 'agent',
        label: t('column.agent'),
        unsorted: true,
        value: ({ agent_id }) => agent_id,
        cell: ({ agent_id }, mark) =>
          agent_id === undefined ? (
            '—'
          ) : (
            <ScreenLink to={`/agents/${encodeURIComponent(agent_id)}`}>{mark(agent_id)}</ScreenLink>
          ),
      },
      {
        id: 'resource',
        label: t('column.resource'),
        unsorted: true,
        value: ({ resource_id }) => resource_id,
      },
      {
        id: 'parent',
        label: t('column.parent'),
        unsorted: true,
        value: ({ parent_thread_id }) => parent_thread_id,
        cell: ({ parent_thread_id: parent }) =>
          parent === undefined ? (
            '—'
          ) : (
            <ScreenLink to={threadHref(parent)} className={css.mono} title={parent}>
              {shortId(parent)}
            </ScreenLink>
          ),
      },
      {
        id: 'updated',
        label: t('column.updated'),
        unsorted: true,
        value: ({ updated_at }) => updated_at,
        text: () => '',
        cell: ({ updated_at }) => <Ago at={updated_at} />,
      },
    ],
    [t],
  );
};

export default function Threads() {
  const t = useTexts(texts);
  const format = useFormat();
  const [address, setQuery] = useQueryState();
  const { resource, parent, root } = address;
  const filter = useMemo(
    () => ({
      resource_id: resource,
      parent_thread_id: parent,
      root: root === 'true' && parent === undefined ? (true as const) : undefined,
    }),
    [resource, parent, root],
  );
  const { query, threads, total } = useThreads(filter);
  const columns = useColumns();
  return (
    <Page title={t('title')} count={query.data && format.number(total)} purpose={t('purpose')}>
      {query.error && !query.data && <ErrorBox error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <SkeletonRows />}
      {query.data && (
        <List
          name="threads"
          rows={threads}
          columns={columns}
          rowId={({ id }) => id}
          rowHref={({ id }) => threadHref(id)}
          searchPlaceholder={t('search')}
          filterKeys={['resource', 'parent', 'root']}
          filters={
            <>
              <TextFilter name="resource" label={t('filter.resource')} />
              <CheckField
                label={t('filter.root')}
                checked={filter.root === true}
                onChange={(isOn) => setQuery({ root: isOn ? 'true' : undefined, parent: undefined })}
              />
              {parent !== undefined && (
                <Button small icon="close" onClick={() => setQuery({ parent: undefined })}>
                  {t('below', { id: shortId(parent) })}
                </Button>
              )}
            </>
          }
          fresh={{ at: query.dataUpdatedAt, busy: query.isFetching, refresh: () => void query.refetch() }}
          unpaged
          after={
            query.hasNextPage && (
              <div className={css.more}>
                <span>
                  {t('loaded', { count: format.number(threads.length), total: format.number(total) })}
                </span>
                <Button small disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  {t('more')}
                </Button>
              </div>
            )
          }
          empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
        />
      )}
    </Page>
  );
}
