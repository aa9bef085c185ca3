import { useMemo } from 'react';
import { object, optional, text } from '../../data/guard.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { metaOf, recordsOf } from '../../data/records.ts';
import { capabilities, runtimeStats } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { type Say, textOr, useFormat } from '../../i18n/locale.ts';
import { agentsCell, FIRST } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import texts from './texts.json' with { type: 'json' };
import { useCallers } from './tool.ts';

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
  const callersOf = useCallers();
  const stats = useResource(runtimeStats).data?.agents;
  return useMemo(() => {
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
        agents: callersOf(id),
        calls: stats && own.reduce((sum, tool) => sum + tool.call_count, 0),
        failures: own.reduce((sum, tool) => sum + tool.failure_count, 0),
      };
    });
  }, [tools, records, meta, callersOf, stats]);
};

const KINDS = ['builtin', 'plugin', 'mcp'] as const;

type T = Say<keyof typeof texts>;

const columnsOf: ColumnsOf<ToolRow, keyof typeof texts> = (t, format) => [
  { id: 'id', value: ({ id }) => id, ...FIRST, isCode: true },
  { id: 'name', value: ({ name }) => name, shortened: true },
  {
    id: 'source',
    value: ({ kind }) => kind,
    cell: ({ kind, from, isCustomized }) => (
      <span>
        {textOr(t, texts, `kind.${kind}`, kind)} {from && <span className="quiet">{from}</span>}{' '}
        {isCustomized && <Chip tone="info">{t('customized')}</Chip>}
      </span>
    ),
  },
  { id: 'description', value: (row) => row.description, shortened: true, unsorted: true },
  { id: 'agents', ...agentsCell(t('agents.none')) },
  {
    id: 'calls',
    value: ({ calls }) => calls,
    align: 'end',
    text: () => '',
    cell: ({ calls, failures }) =>
      calls === undefined ? (
        <span className="quiet">—</span>
      ) : (
        <>
          {failures > 0 && (
            <span className="bad">{t('failures', { share: format.percent(failures / calls) })} · </span>
          )}
          {format.number(calls)}
        </>
      ),
  },
];

const filtersOf = (t: T): Filter[] => [
  {
    key: 'source',
    kind: 'choice',
    label: t('column.source'),
    options: KINDS.map((kind) => [kind, t(`kind.${kind}`)]),
  },
  { key: 'customized', kind: 'flag', label: t('customized.only') },
];

export default function Tools() {
  const format = useFormat();
  const query = useResource(capabilities);
  const [{ source, customized }] = useQueryState();
  const rows = useRows();
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (source === undefined || row.kind === source) && (customized === undefined || row.isCustomized),
      ),
    [rows, source, customized],
  );
  return (
    <ListScreen
      name="tools"
      texts={texts}
      query={query}
      off={capabilities.off}
      rows={shown}
      count={query.data && format.number(rows.length)}
      columns={columnsOf}
      filters={filtersOf}
      rowId={({ id }) => id}
      rowHref={({ id }) => `/tools/${encodeURIComponent(id)}`}
    />
  );
}
