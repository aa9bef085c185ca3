import pMap from 'p-map';
import { lazy, Suspense, useMemo, useState } from 'react';
import { anyObject } from '../../data/guard.ts';
import { type Loaded as Query, stateOf, useResource } from '../../data/queries.ts';
import { idsOf, metaOf, recordsOf } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { runtimeStats } from '../../data/resources.ts';
import { KEYS, readJson, writeKey } from '../../data/storage.ts';
import { showsTestAgents, showTestAgents } from '../../data/test-agents.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField } from '../../design/Field.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useNow } from '../../design/Time.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { columnsOf, NAME } from './agent-columns.tsx';
import { AgentRecord, type AgentRow, filtered, rowOf } from './agent-row.ts';
import { DeleteManyDialog } from './DeleteManyDialog.tsx';
import texts from './texts.json' with { type: 'json' };

const AgentMap = lazy(() => import('./AgentMap.tsx'));
const ImportDialog = lazy(() => import('./ImportDialog.tsx'));

const AGENT = { namespace: 'agents', entity: 'entity.agent' } as const;
const AGENTS = recordsOf('agents', AgentRecord);
const META = metaOf('agents');
const NEWEST_FIRST = { id: 'modified', direction: 'desc' } as const;
const SPANS = ['1h', '24h', '7d', '30d'] as const;

/** The agents with their metadata and statistics, either of which may be missing. */
const useRows = (query: Query<AgentRecord[]>): AgentRow[] => {
  const meta = useResource(META).data;
  const stats = useResource(runtimeStats).data?.agents;
  const models = useResource(idsOf('models')).data;
  const pools = useResource(idsOf('model-pools')).data;
  return useMemo(() => {
    const known = models && pools && new Set([...models, ...pools]);
    return (query.data ?? []).map((agent) => rowOf(agent, { meta, stats, models: known }));
  }, [query.data, meta, stats, models, pools]);
};

const distinct = (values: readonly string[]): string[] => [...new Set(values)].filter(Boolean).sort();

const useFilters = (rows: readonly AgentRow[]): readonly Filter[] => {
  const t = useTexts(texts);
  const choice = (
    key: 'model' | 'plugin' | 'modified',
    values: readonly string[],
    named?: (one: string) => string,
  ) => ({
    key,
    label: t(`filter.${key}`),
    kind: 'choice' as const,
    options: values.map((value): [string, string] => [value, named?.(value) ?? value]),
  });
  return [
    choice('model', distinct(rows.map(({ model }) => model))),
    choice('plugin', distinct(rows.flatMap(({ plugins }) => plugins))),
    choice('modified', SPANS, (span) => t(SPANS.find((each) => each === span) ?? '30d')),
  ];
};

const STATS_NOTICE = 'agents.stats';

/** Shown until the user dismisses it; the browser remembers this. */
const StatsOff = () => {
  const t = useTexts(texts);
  const [isHidden, hide] = useState(() => [readJson(KEYS.dismissed)].flat().includes(STATS_NOTICE));
  if (isHidden) return null;
  const dismiss = (): void => {
    writeKey(KEYS.dismissed, JSON.stringify([STATS_NOTICE]));
    hide(true);
  };
  return (
    <Notice
      title={t('stats.off')}
      actions={
        <Button small onClick={dismiss}>
          {t('dismiss')}
        </Button>
      }
    />
  );
};

/** Exports the stored specifications, so that they can be imported elsewhere. */
const exported = (rows: readonly AgentRow[]): Promise<unknown> =>
  pMap(rows, ({ id }) => send({ path: pathOf`/v1/config/agents/${id}` }, anyObject), { concurrency: 5 });

const Actions = () => {
  const t = useTexts(texts);
  const [{ view }, setQuery] = useQueryState();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Segmented
        label={t('view')}
        value={view === 'map' ? 'map' : 'list'}
        options={[
          ['list', t('view.list')],
          ['map', t('view.map')],
        ]}
        onChange={(value) => setQuery({ view: value === 'map' ? value : undefined })}
      />
      <Button icon="file" onClick={() => setOpen(true)}>
        {t('import.open')}
      </Button>
      {isOpen && (
        <Suspense>
          <ImportDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};

/** The rows that match the filters, the hidden agents, the number of all others, and the number of test agents. */
const useShown = (rows: readonly AgentRow[]) => {
  const now = useNow();
  const [{ model, plugin, modified, q = '' }] = useQueryState();
  const isShowingTests = useAtom(showsTestAgents);
  const offered = useMemo(() => rows.filter(({ isTest }) => !isTest), [rows]);
  // A search finds all agents.
  const searched = isShowingTests || q !== '' ? rows : offered;
  const shown = useMemo(
    () => filtered(searched, { model, plugin, modified }, now),
    [searched, model, plugin, modified, now],
  );
  const hidden = useMemo(
    () => new Set(isShowingTests ? [] : rows.flatMap(({ isTest, id }) => (isTest ? [id] : []))),
    [isShowingTests, rows],
  );
  return { shown, hidden, count: rows.length - hidden.size, tests: rows.length - offered.length };
};

const TestAgentsSwitch = ({ count }: { count: number }) => {
  const t = useTexts(texts);
  const isOn = useAtom(showsTestAgents);
  return <CheckField label={t('testAgents', { count })} checked={isOn} onChange={showTestAgents} />;
};

export default function Agents() {
  const t = useTexts(texts);
  const query = useResource(AGENTS);
  const stats = useResource(runtimeStats);
  const isStatsOff = stats.error !== null && stateOf(runtimeStats, stats.error) === 'off';
  const columns = useMemo(() => (say: Say<keyof typeof texts>) => columnsOf(say, isStatsOff), [isStatsOff]);
  const rows = useRows(query);
  const [{ view }] = useQueryState();
  const { shown, hidden, count, tests } = useShown(rows);
  const [many, setMany] = useState<readonly AgentRow[]>();
  return (
    <EntryScreen
      kind={AGENT}
      texts={texts}
      entries={{ query, off: AGENTS.off, rows: shown, count }}
      name={NAME}
      columns={columns}
      pages="/agents"
      showsSource
      actions={<Actions />}
      menu={({ id }, { t }) => [
        { label: t('dashboard'), icon: 'dashboard', act: `/agents/${encodeURIComponent(id)}/dashboard` },
      ]}
      list={{
        usualSort: NEWEST_FIRST,
        filterBy: useFilters(rows),
        tools: tests > 0 && <TestAgentsSwitch count={tests} />,
        exported,
        bulk: [{ label: t('many.confirm'), icon: 'trash', run: setMany }],
      }}
      instead={
        view === 'map' && (
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <AgentMap hidden={hidden} />
          </Suspense>
        )
      }
    >
      {isStatsOff && <StatsOff />}
      {many && <DeleteManyDialog rows={many} onClose={() => setMany(undefined)} />}
    </EntryScreen>
  );
}
