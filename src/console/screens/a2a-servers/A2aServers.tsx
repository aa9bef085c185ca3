import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { capabilities } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { agentsCell } from '../../list/columns.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { refusedHostIn, remoteStatus } from '../../remote/status.ts';
import { SERVERS, type Server } from './a2a-server.ts';
import { ServerDrawer } from './ServerDrawer.tsx';
import { SERVER } from './server-form.tsx';
import texts from './texts.json' with { type: 'json' };

/** The service contacts a server at most this often. */
const EVERY_MS = 15_000;

type Row = Server & { agents: readonly string[] };

const Status = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const { data, error } = useResource(remoteStatus(id, EVERY_MS));
  if (!data) return <Chip>{error ? t('status.unknown') : '…'}</Chip>;
  if (data.connected) return <Chip tone="success">{t('status.ok')}</Chip>;
  const why = data.last_error === undefined ? undefined : redactText(data.last_error);
  const isRefused = refusedHostIn(data) !== undefined;
  return (
    <Chip tone={isRefused ? 'warn' : 'error'} {...(why !== undefined && { title: why })}>
      {t(isRefused ? 'status.refused' : 'status.failed')}
    </Chip>
  );
};

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t) => [
  { id: 'status', drawn: ({ id }) => <Status id={id} /> },
  {
    id: 'url',
    label: t('field.base_url'),
    isCode: true,
    shortened: true,
    value: (row) => redactText(row.base_url),
  },
  { id: 'auth', label: t('field.auth'), value: (row) => t(row.has_auth ? 'auth.stored' : 'auth.none') },
  { id: 'agents', ...agentsCell() },
];

export default function A2aServers() {
  const query = useResource(SERVERS);
  const agents = useResource(capabilities).data?.agents;
  const [{ server, edit }, setQuery] = useQueryState();
  const rows = useMemo(
    () =>
      (query.data ?? []).map((one) => ({
        ...one,
        agents: agents?.filter((agent) => agent.startsWith(`${one.id}/`)) ?? [],
      })),
    [query.data, agents],
  );
  return (
    <EntryScreen
      kind={SERVER}
      texts={texts}
      query={query}
      off={SERVERS.off}
      rows={rows}
      columns={columnsOf}
      onOpen={({ id }) => setQuery({ server: id })}
      openId={server}
    >
      {server !== undefined && edit === undefined && (
        <ServerDrawer id={server} onClose={() => setQuery({ server: undefined })} />
      )}
    </EntryScreen>
  );
}
