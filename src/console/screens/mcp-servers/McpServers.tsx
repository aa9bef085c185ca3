import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { metaOf } from '../../data/records.ts';
import { redactText } from '../../data/redact-text.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { CopyButton } from '../../design/Copy.tsx';
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
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { RowHealth } from './Health.tsx';
import css from './McpServers.module.css';
import { RestartButton } from './RestartButton.tsx';
import { verifyTools } from './restart.ts';
import { ServerForm } from './ServerForm.tsx';
import { endpointOf, SERVER, SERVERS, type Server } from './server.ts';
import { texts } from './texts.ts';

const META = metaOf('mcp-servers');

type Row = Server & { modified: number | undefined };

const NEW_SERVER = { id: '', transport: 'stdio', command: '' };

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
      { id: 'transport', label: t('column.transport'), value: (row) => row.transport },
      {
        id: 'endpoint',
        label: t('column.endpoint'),
        value: endpointOf,
        cell: (row, mark) => (
          <span className={css.endpoint}>
            <span className={css.cut} title={redactText(endpointOf(row))}>
              {mark(redactText(endpointOf(row)))}
            </span>
            <CopyButton text={redactText(endpointOf(row))} />
          </span>
        ),
      },
      {
        id: 'env',
        label: t('column.env'),
        value: (row) => row.env_keys.join(' '),
        cell: (row) => <span className={css.mono}>{row.env_keys.join(', ') || '—'}</span>,
      },
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
        cell: (row) => <RowHealth id={row.id} />,
      },
    ],
    [t],
  );
};

export default function McpServers() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(SERVERS);
  const meta = useResource(META).data;
  const columns = useColumns();
  const address = useEntryAddress();
  const [doomed, setDoomed] = useState<string>();
  const rows = useMemo(
    () => (query.data ?? []).map((one) => ({ ...one, modified: meta?.get(one.id)?.updated_at })),
    [query.data, meta],
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
            name="mcp-servers"
            rows={rows}
            columns={columns}
            rowId={({ id }) => id}
            rowHref={({ id }) => `/mcp-servers/${encodeURIComponent(id)}`}
            searchPlaceholder={t('search')}
            fresh={freshOf(query)}
            actions={({ id }) => (
              <>
                <Button small onClick={() => void verifyTools(id)}>
                  {t('verify')}
                </Button>
                <RestartButton id={id} isSmall />
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
      {address.isNew && <ServerForm opened={newEntry(NEW_SERVER)} onClose={address.close} />}
      {address.id !== undefined && (
        <StoredEntry kind={SERVER} id={address.id}>
          {(opened) => <ServerForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {doomed !== undefined && <DeleteDialog {...SERVER} id={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}
