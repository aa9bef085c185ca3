import { useCallback } from 'react';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { capabilities } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { type EntryDialog, EntryScreen } from '../../entry/EntryScreen.tsx';
import { SecretField } from '../../entry/SecretField.tsx';
import { useEntryRows } from '../../entry/use-entries.ts';
import { useTexts } from '../../i18n/locale.ts';
import { agentsCell } from '../../list/columns.tsx';
import { Freshness, freshOf } from '../../list/Freshness.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { AgentCard } from '../../remote/AgentCard.tsx';
import { refusedHostIn, remoteStatus } from '../../remote/status.ts';
import remoteTexts from '../../remote/texts.json' with { type: 'json' };
import type { SeenProps } from '../../schema-form/context.ts';
import { authOf, SERVERS, type Server, tokenOf } from './a2a-server.ts';
import texts from './texts.json' with { type: 'json' };

const Token = ({ label, onChange }: SeenProps) => {
  const form = useEntryForm();
  const isStored = form.opened.start.has_auth === true;
  return (
    <SecretField
      title={label}
      isStored={isStored}
      value={tokenOf(form.draft)}
      onChange={(token) => onChange(authOf(token, isStored))}
      error={form.errors.get('auth')}
    />
  );
};

const SERVER: EntryDescriptor = {
  namespace: 'a2a-servers',
  entity: 'entity.a2aServer',
  texts,
  start: { id: '', base_url: '' },
  fields: () => ['id', 'base_url', 'auth', 'auth_origins', 'timeout_ms', 'target', 'options'],
  ui: { auth: { 'ui:widget': 'token' }, base_url: { 'ui:placeholder': 'https://' } },
  widgets: { token: Token },
};

/** The card of a server, and the agents that it provides. */
const ServerDrawer: EntryDialog = ({ id, onClose }) => {
  const t = useTexts(texts);
  const remote = useTexts(remoteTexts);
  const query = useResource(remoteStatus(id));
  const agents = useResource(capabilities).data?.agents.filter((agent) => agent.startsWith(`${id}/`));
  return (
    <Drawer title={t('detail.title', { id })} onClose={onClose} actions={<Freshness {...freshOf(query)} />}>
      <Loaded query={query} plain>
        {(status) => <AgentCard server={id} status={status} />}
      </Loaded>
      <section aria-label={remote('agents')}>
        <h3>{remote('agents')}</h3>
        {agents?.length ? (
          <ul className="stack">
            {agents.map((agent) => (
              <li key={agent}>
                <ScreenLink to={`/agents/${encodeURIComponent(agent)}`}>{agent}</ScreenLink>
              </li>
            ))}
          </ul>
        ) : (
          <p className="quiet">{remote('agents.none')}</p>
        )}
      </section>
    </Drawer>
  );
};

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
  const agents = useResource(capabilities).data?.agents;
  const rowsOf = useCallback(
    (servers: readonly Server[]) =>
      servers.map(
        (server): Row => ({
          ...server,
          agents: agents?.filter((agent) => agent.startsWith(`${server.id}/`)) ?? [],
        }),
      ),
    [agents],
  );
  return (
    <EntryScreen
      kind={SERVER}
      texts={texts}
      entries={useEntryRows(SERVERS, rowsOf)}
      columns={columnsOf}
      onOpen={(_, { open }) => open('server')}
      dialogs={{ server: ServerDrawer }}
    />
  );
}
