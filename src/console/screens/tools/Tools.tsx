import { useMemo } from 'react';
import { object, optional, text } from '../../data/guard.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { metaOf, recordsOf } from '../../data/records.ts';
import { capabilities, runtimeStats } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { createToolFilter } from './allowed.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';
import { agentsWithTools } from './tool.ts';

const RECORDS = recordsOf('tools', object({ id: text, description: optional(text) }));
const META = metaOf('tools');

type ToolRow = {
  id: string;
  name: string;
  description: string;
  kind: string;
  from: string | undefined;
  isCustomized: boolean;
  agents: readonly string[];
  calls: number | undefined;
  failures: number;
};

/** Empty until the tools are loaded. */
const useRows = (): ToolRow[] => {
  const tools = useResource(capabilities).data?.tools;
  const records = useResource(RECORDS).data;
  const meta = useResource(META).data;
  const agents = useResource(agentsWithTools).data;
  const stats = useResource(runtimeStats).data?.agents;
  return useMemo(() => {
    const filters = (agents ?? []).map((agent) => ({ id: agent.id, allows: createToolFilter(agent) }));
    const effective = new Map(records?.map(({ id, description }) => [id, description]));
    const counted = (stats ?? []).flatMap((agent) => agent.tool_calls_by_tool);
    return (tools ?? []).map(({ id, name, description, source }) => {
      const own = counted.filter(({ tool }) => tool === id);
      return {
        id,
        name,
        description: effective.get(id) ?? description,
        kind: source.kind,
        from: source.id,
        isCustomized: sourceState(meta?.get(id)) === 'customized',
        agents: filters.filter(({ allows }) => allows(id)).map((agent) => agent.id),
        calls: stats && own.reduce((sum, tool) => sum + tool.call_count, 0),
        failures: own.reduce((sum, tool) => sum + tool.failure_count, 0),
      };
    });
  }, [tools, records, meta, agents, stats]);
};

const KINDS = ['builtin', 'plugin', 'mcp'] as const;

const Source = ({ row }: { row: ToolRow }) => {
  const t = useTexts(texts);
  const kind = KINDS.find((known) => known === row.kind);
  return (
    <span className={css.source}>
      {kind ? t(`kind.${kind}`) : row.kind}
      {row.from && <span className={css.quiet}>{row.from}</span>}
      {row.isCustomized && <Chip tone="info">{t('customized')}</Chip>}
    </span>
  );
};

const Calls = ({ row }: { row: ToolRow }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (row.calls === undefined) return <span className={css.quiet}>—</span>;
  return (
    <>
      {row.failures > 0 && (
        <span className={css.bad}>
          {t('failures', { share: format.percent(row.failures / row.calls) })} ·{' '}
        </span>
      )}
      {format.number(row.calls)}
    </>
  );
};

const useColumns = (): Column<ToolRow>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.id'),
        shortened: true,
        always: true,
        isCode: true,
        value: (row) => row.id,
      },
      { id: 'name', label: t('column.name'), shortened: true, value: (row) => row.name },
      {
        id: 'source',
        label: t('column.source'),
        value: (row) => row.kind,
        cell: (row) => <Source row={row} />,
      },
      {
        id: 'description',
        label: t('column.description'),
        shortened: true,
        value: (row) => row.description,
        unsorted: true,
      },
      {
        id: 'agents',
        label: t('column.agents'),
        align: 'end',
        value: (row) => row.agents.length,
        text: (row) => row.agents.join(' '),
        cell: (row) => <span title={row.agents.join(', ') || t('agents.none')}>{row.agents.length}</span>,
      },
      {
        id: 'calls',
        label: t('column.calls'),
        align: 'end',
        value: (row) => row.calls,
        text: () => '',
        cell: (row) => <Calls row={row} />,
      },
    ],
    [t],
  );
};

export default function Tools() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(capabilities);
  const [{ source, customized }] = useQueryState();
  const rows = useRows();
  const columns = useColumns();
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (source === undefined || row.kind === source) && (customized === undefined || row.isCustomized),
      ),
    [rows, source, customized],
  );
  const filterBy = useMemo(
    (): Filter[] => [
      {
        key: 'source',
        kind: 'choice',
        label: t('column.source'),
        options: KINDS.map((kind) => [kind, t(`kind.${kind}`)]),
      },
      { key: 'customized', kind: 'flag', label: t('customized.only') },
    ],
    [t],
  );
  return (
    <Page title={t('title')} count={query.data && format.number(rows.length)} purpose={t('purpose')}>
      <Loaded query={query} off={capabilities.off}>
        {() => (
          <List
            name="tools"
            rows={shown}
            columns={columns}
            rowId={({ id }) => id}
            rowHref={({ id }) => `/tools/${encodeURIComponent(id)}`}
            searchPlaceholder={t('search')}
            filterBy={filterBy}
            fresh={freshOf(query)}
            empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
          />
        )}
      </Loaded>
    </Page>
  );
}
