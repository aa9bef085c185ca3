import { useTexts } from '../../i18n/locale.ts';
import { AGENT_CELL } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import { type Paged, pageOf } from '../../list/pages.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { useAgentFilter } from '../../run-records/filters.ts';
import { shortId } from '../../run-records/RunChip.tsx';
import { threadHref } from '../../run-records/run.ts';
import { useMoved } from '../../run-records/use-moved.ts';
import texts from './texts.json' with { type: 'json' };
import { SUMMARIES, Summary } from './thread.ts';

const SummaryPage = pageOf(Summary);

const useThreads = () => {
  const [{ resource, parent, root, agent, q }] = useQueryState();
  const source: Paged<Summary> = {
    path: SUMMARIES,
    query: {
      resource_id: resource,
      parent_thread_id: parent,
      root: root === 'true' && parent === undefined ? true : undefined,
      agent_id: agent,
      q,
      preview: true,
    },
    guard: SummaryPage,
    idOf: ({ id }) => id,
  };
  const pages = usePages(source);
  useMoved({ machine: 'thread' }, pages.refresh);
  return pages;
};

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return [
    useAgentFilter(),
    { key: 'resource', kind: 'text', label: t('common.resource') },
    { key: 'parent', kind: 'text', label: t('filter.parent') },
    { key: 'root', kind: 'flag', label: t('filter.root') },
  ];
};

// The service lists threads in the order of their changes only.
const columnsOf: ColumnsOf<Summary, keyof typeof texts> = () => [
  {
    id: 'title',
    always: true,
    shortened: true,
    unsorted: true,
    value: ({ title, preview, id }) => title ?? preview ?? id,
    cell: ({ title, preview, id }, mark) => {
      const words = title ?? preview;
      return (
        <span className={words === undefined ? 'mono' : undefined} dir="auto">
          {mark(words ?? shortId(id))}
        </span>
      );
    },
  },
  { id: 'agent', unsorted: true, ...AGENT_CELL },
  { id: 'resource', shortened: true, unsorted: true, value: ({ resource_id }) => resource_id },
  {
    id: 'parent',
    unsorted: true,
    value: ({ parent_thread_id }) => parent_thread_id,
    cell: ({ parent_thread_id: parent }) =>
      parent === undefined ? (
        '—'
      ) : (
        <ScreenLink to={threadHref(parent)} className="mono" title={parent}>
          {shortId(parent)}
        </ScreenLink>
      ),
  },
  { id: 'updated', unsorted: true, at: ({ updated_at }) => updated_at },
];

export default function Threads() {
  const t = useTexts(texts);
  return (
    <ListScreen
      name="threads"
      texts={texts}
      pages={useThreads()}
      columns={columnsOf}
      filterBy={useFilters()}
      rowHref={({ id }) => threadHref(id)}
      menu={({ id }) => [
        { label: t('common.openThread'), icon: 'threads', act: threadHref(id) },
        { label: t('menu.runs'), icon: 'runs', act: `/runs?thread=${encodeURIComponent(id)}` },
        { label: t('menu.below'), icon: 'filter', act: `/threads?parent=${encodeURIComponent(id)}` },
      ]}
      fills
    />
  );
}
