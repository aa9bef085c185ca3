import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { metaOf } from '../../data/records.ts';
import { redactText } from '../../data/redact-text.ts';
import { capabilities } from '../../data/resources.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { StoredEntry } from '../../entry/StoredEntry.tsx';
import { newEntry, useEntryAddress } from '../../entry/use-opened.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { remoteStatus } from '../../remote/status.ts';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import css from './A2aServers.module.css';
import { ServerDrawer } from './ServerDrawer.tsx';
import { ServerForm } from './ServerForm.tsx';
import { SERVER, SERVERS, type Server } from './server.ts';
import { texts } from './texts.ts';

const META = metaOf('a2a-servers');

/** The service asks a server at most this often. */
const EVERY_MS = 15_000;

type Row = Server & { modified: number | undefined; agents: number };

const Status = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const { data, error } = useResource(remoteStatus(id, EVERY_MS));
  if (!data) return <Chip>{error ? t('status.unknown') : '…'}</Chip>;
  if (data.connected) return <Chip tone="success">{t('status.ok')}</Chip>;
  const why = data.last_error === undefined ? undefined : redactText(data.last_error);
  return (
    <Chip tone="error" {...(why !== undefined && { title: why })}>
      {t('status.failed')}
    </Chip>
  );
};

const useColumns = (): Column<Row>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        value: (row) => row.id,
        cell: (row, mark) => <span className={css.mono}>{mark(row.id)}</span>,
      },
      {
        id: 'url',
        label: t('column.url'),
        value: (row) => row.base_url,
        cell: (row, mark) => <span className={css.mono}>{mark(redactText(row.base_url))}</span>,
      },
      { id: 'auth', label: t('column.auth'), value: (row) => t(row.has_auth ? 'auth.stored' : 'auth.none') },
      { id: 'agents', label: t('column.agents'), align: 'end', value: (row) => row.agents },
      {
        id: 'modified',
        label: t('column.modified'),
        value: (row) => row.modified,
        text: () => '',
        cell: (row) => <Ago at={row.modified} />,
      },
      {
        id: 'status',
        label: t('column.status'),
        value: () => undefined,
        unsorted: true,
        text: () => '',
        cell: (row) => <Status id={row.id} />,
      },
    ],
    [t],
  );
};

export default function A2aServers() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(SERVERS);
  const meta = useResource(META).data;
  const agents = useResource(capabilities).data?.agents;
  const columns = useColumns();
  const address = useEntryAddress();
  const [{ server }, setQuery] = useQueryState();
  const [doomed, setDoomed] = useState<string>();
  const rows = useMemo(
    () =>
      (query.data ?? []).map((one) => ({
        ...one,
        modified: meta?.get(one.id)?.updated_at,
        agents: agents?.filter((agent) => agent.startsWith(`${one.id}/`)).length ?? 0,
      })),
    [query.data, meta, agents],
  );
  const create = (
    <Button tone="primary" icon="plus" onClick={address.create} data-new>
      {t('new')}
    </Button>
  );
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(query.data.length)}
      purpose={t('purpose')}
      actions={create}
    >
      <Loaded query={query} off={SERVERS.off}>
        {() => (
          <List
            name="a2a-servers"
            rows={rows}
            columns={columns}
            rowId={({ id }) => id}
            onOpen={({ id }) => setQuery({ server: id })}
            openId={address.id ?? server}
            searchPlaceholder={t('search')}
            fresh={freshOf(query)}
            actions={({ id }) => (
              <>
                <Button small onClick={() => address.edit(id)}>
                  {t('edit')}
                </Button>
                <IconButton
                  small
                  icon="trash"
                  tone="danger"
                  label={t('delete', { id })}
                  onClick={() => setDoomed(id)}
                />
              </>
            )}
            empty={
              <EmptyState title={t('empty.title')} actions={create}>
                {t('empty.text')}
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {address.isNew && <ServerForm opened={newEntry({ id: '', base_url: '' })} onClose={address.close} />}
      {address.id !== undefined && (
        <StoredEntry kind={SERVER} id={address.id}>
          {(opened) => <ServerForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {server !== undefined && address.id === undefined && (
        <ServerDrawer id={server} onClose={() => setQuery({ server: undefined })} />
      )}
      {doomed !== undefined && <DeleteDialog {...SERVER} id={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}
