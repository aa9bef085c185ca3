import pMap from 'p-map';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { anyObject } from '../../data/guard.ts';
import { type Loaded as Query, stateOf, useResource } from '../../data/queries.ts';
import { metaOf, NamedRecord, recordsOf } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { runtimeStats } from '../../data/resources.ts';
import { KEYS, readJson, writeKey } from '../../data/storage.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice, SkeletonRows } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useNow } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink, useGo } from '../../shell/links.tsx';
import { isScreen } from '../../shell/screen-paths.ts';
import { AgentRecord, type AgentRow, filtered, rowOf, WITHIN } from './agent-row.ts';
import { useAgentColumns } from './columns.tsx';
import { DeleteManyDialog } from './DeleteManyDialog.tsx';
import { texts } from './texts.ts';

const AgentMap = lazy(() => import('./AgentMap.tsx'));
const ImportDialog = lazy(() => import('./ImportDialog.tsx'));

const AGENTS = recordsOf('agents', AgentRecord);
const META = metaOf('agents');
const MODELS = recordsOf('models', NamedRecord);
const POOLS = recordsOf('model-pools', NamedRecord);
const NEWEST_FIRST = { id: 'modified', direction: 'desc' } as const;
const FILTERS = ['model', 'plugin', 'modified'];

/** What is known of the agents beside themselves. Each part may be missing. */
const useRows = (query: Query<AgentRecord[]>): AgentRow[] => {
  const meta = useResource(META).data;
  const stats = useResource(runtimeStats).data?.agents;
  const models = useResource(MODELS).data;
  const pools = useResource(POOLS).data;
  return useMemo(() => {
    const known = models && pools && new Set([...models, ...pools].map(({ id }) => id));
    return (query.data ?? []).map((agent) => rowOf(agent, { meta, stats, models: known }));
  }, [query.data, meta, stats, models, pools]);
};

const distinct = (values: readonly string[]): string[] => [...new Set(values)].filter(Boolean).sort();

const Filters = ({ rows }: { rows: readonly AgentRow[] }) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const set = (key: string) => (value: string) => setQuery({ [key]: value || undefined, page: undefined });
  const spans = (['1h', '24h', '7d', '30d'] as const).filter((span) => span in WITHIN);
  const options = (values: readonly string[]): [string, string][] => [
    ['', t('all')],
    ...values.map((value): [string, string] => [value, value]),
  ];
  return (
    <>
      <FilterSelect
        label={t('filter.model')}
        value={query.model ?? ''}
        options={options(distinct(rows.map(({ model }) => model)))}
        onChange={set('model')}
      />
      <FilterSelect
        label={t('filter.plugin')}
        value={query.plugin ?? ''}
        options={options(distinct(rows.flatMap(({ plugins }) => plugins)))}
        onChange={set('plugin')}
      />
      <FilterSelect
        label={t('filter.modified')}
        value={query.modified ?? ''}
        options={[['', t('any')], ...spans.map((span): [string, string] => [span, t(span)])]}
        onChange={set('modified')}
      />
    </>
  );
};

const STATS_NOTICE = 'agents.stats';

/** Said once: who has closed it is not told again. */
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

const RowActions = ({ row, onDelete }: { row: AgentRow; onDelete: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const id = encodeURIComponent(row.id);
  return (
    <>
      {isScreen(`/agents/${id}/dashboard`) && (
        <IconButton
          small
          icon="dashboard"
          label={t('dashboard', { id: row.id })}
          onClick={() => go(`/agents/${id}/dashboard`)}
        />
      )}
      {isScreen('/agents/new') && (
        <IconButton
          small
          icon="duplicate"
          label={t('duplicate', { id: row.id })}
          onClick={() => go(`/agents/new?from=${id}`)}
        />
      )}
      <IconButton small icon="trash" tone="danger" label={t('delete', { id: row.id })} onClick={onDelete} />
    </>
  );
};

const NewAgent = (): ReactNode => {
  const t = useTexts(texts);
  if (!isScreen('/agents/new')) return null;
  return (
    <ScreenLink to="/agents/new" className={buttonLook} isNew>
      {t('new')}
    </ScreenLink>
  );
};

/** As they are stored, so that they can be imported elsewhere. */
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
      <NewAgent />
      {isOpen && (
        <Suspense>
          <ImportDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};

export default function Agents() {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const query = useResource(AGENTS);
  const stats = useResource(runtimeStats);
  const isStatsOff = stats.error !== null && stateOf(runtimeStats, stats.error) === 'off';
  const columns = useAgentColumns(isStatsOff);
  const rows = useRows(query);
  const [{ model, plugin, modified, view }] = useQueryState();
  const shown = useMemo(
    () => filtered(rows, { model, plugin, modified }, now),
    [rows, model, plugin, modified, now],
  );
  const [doomed, setDoomed] = useState<AgentRow>();
  const [many, setMany] = useState<readonly AgentRow[]>();
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(query.data.length)}
      purpose={t('purpose')}
      actions={<Actions />}
    >
      {isStatsOff && <StatsOff />}
      {view === 'map' ? (
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <AgentMap />
        </Suspense>
      ) : (
        <Loaded query={query} off={AGENTS.off}>
          {() => (
            <List
              name="agents"
              rows={shown}
              columns={columns}
              rowId={({ id }) => id}
              rowHref={({ id }) => `/agents/${encodeURIComponent(id)}`}
              usualSort={NEWEST_FIRST}
              searchPlaceholder={t('search')}
              filters={<Filters rows={rows} />}
              filterKeys={FILTERS}
              exported={exported}
              bulk={[{ label: t('many.confirm'), icon: 'trash', run: setMany }]}
              fresh={freshOf(query)}
              actions={(row) => <RowActions row={row} onDelete={() => setDoomed(row)} />}
              empty={
                <EmptyState title={t('empty.title')} actions={<NewAgent />}>
                  {t('empty.text')}
                </EmptyState>
              }
            />
          )}
        </Loaded>
      )}
      {many && <DeleteManyDialog rows={many} onClose={() => setMany(undefined)} />}
      {doomed && (
        <DeleteDialog
          namespace="agents"
          entity="entity.agent"
          id={doomed.id}
          note={doomed.source === 'user' ? undefined : t('delete.builtin')}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </Page>
  );
}
