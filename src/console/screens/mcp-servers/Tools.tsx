import { useMemo } from 'react';
import { mcpSegment } from '../../../schema/mcp-names.ts';
import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { useTexts } from '../../i18n/locale.ts';
import { agentsCell, FIRST } from '../../list/columns.tsx';
import { List } from '../../list/List.tsx';
import { type ColumnsOf, useColumns } from '../../list/use-columns.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { useCallers } from '../tools/tool.ts';
import type { Status } from './mcp-server.ts';
import texts from './texts.json' with { type: 'json' };

/** `id` is undefined for a tool that is not offered to agents. */
type Row = { name: string; description: string | null; id: string | undefined; agents: readonly string[] };

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t) => [
  { id: 'name', label: t('tool.name'), ...FIRST, isCode: true, value: ({ name }) => name },
  {
    id: 'id',
    label: t('tool.id'),
    value: ({ id }) => id ?? t('tool.unregistered'),
    shortened: true,
    cell: ({ id }, mark) =>
      id === undefined ? (
        <span className="quiet">{t('tool.unregistered')}</span>
      ) : (
        <ScreenLink to={`/tools/${encodeURIComponent(id)}`} className="mono">
          {mark(id)}
        </ScreenLink>
      ),
  },
  {
    id: 'description',
    label: t('tool.description'),
    value: ({ description }) => description ?? '—',
    shortened: true,
  },
  { id: 'agents', label: t('tool.agents'), ...agentsCell() },
];

/** The tools of a server, with the agents that may call them. */
export const Tools = ({ id: server, status }: { id: string; status: Status }) => {
  const t = useTexts(texts);
  const known = useResource(capabilities).data?.tools;
  const callersOf = useCallers();
  const rows = useMemo(() => {
    const segment = mcpSegment(server);
    const own = known?.filter(({ source }) => source.kind === 'mcp' && source.id === segment) ?? [];
    return status.tools.map(({ name, description }): Row => {
      const end = `__${mcpSegment(name)}`;
      const id = own.find((tool) => tool.name === name || tool.id.endsWith(end))?.id;
      return { name, description, id, agents: id === undefined ? [] : callersOf(id) };
    });
  }, [server, status.tools, known, callersOf]);
  return (
    <List
      name="mcp-tools"
      rows={rows}
      columns={useColumns(texts, columnsOf)}
      rowId={({ name }) => name}
      unpaged
      empty={<p className="quiet">{t('detail.none')}</p>}
    />
  );
};
