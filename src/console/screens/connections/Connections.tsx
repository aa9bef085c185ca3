import { useEffect, useRef, useState } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { useMay } from '../../data/identity.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { Connect } from './Connect.tsx';
import {
  type Connection,
  confirmAuthorization,
  connectionsOf,
  disconnect,
  isConnectable,
  SERVERS,
} from './connection.ts';
import { texts } from './texts.ts';
import { useConnectionColumns } from './use-connection-columns.tsx';

/** The browser returned from the authorization server: the user who began confirms the connection. */
const useConfirmation = (): void => {
  const t = useTexts(texts);
  const [{ authorization, code, error }, setQuery] = useQueryState();
  const confirmed = useRef<string>(undefined);
  useEffect(() => {
    if (error !== undefined) {
      setQuery({ error: undefined, authorization: undefined });
      toast('error', t('connect.failed'));
    }
    if (authorization === undefined || code === undefined || confirmed.current === code) return;
    confirmed.current = code;
    setQuery({ authorization: undefined, code: undefined });
    confirmAuthorization(authorization, code).then(() => toast('success', t('connect.done')), toastError);
  }, [authorization, code, error, setQuery, t]);
};

const Disconnect = ({ of: { server }, onClose }: { of: Connection; onClose: () => void }) => {
  const t = useTexts(texts);
  const act = async (): Promise<void> => {
    await disconnect(server);
    toast('success', t('disconnect.done', { server }));
  };
  return (
    <ActDialog
      title={t('disconnect.title', { server })}
      confirm={t('disconnect.confirm')}
      act={act}
      onClose={onClose}
    >
      <p>{t('disconnect.text')}</p>
    </ActDialog>
  );
};

export default function Connections() {
  const t = useTexts(texts);
  const format = useFormat();
  const may = useMay();
  const [query, setQuery] = useQueryState();
  const connections = useResource(connectionsOf());
  const servers = useResource(SERVERS, may(['observe'])).data ?? [];
  const [doomed, doom] = useState<Connection>();
  const columns = useConnectionColumns();
  useConfirmation();
  const { connect, authorization, code } = query;
  const offered =
    authorization !== undefined && code === undefined
      ? { id: authorization, scopes: query.scopes?.split(' ').filter(Boolean) ?? [], issuer: undefined }
      : undefined;
  const items = connections.data?.items ?? [];
  const known = new Set(items.filter(({ state }) => state === 'connected').map(({ server }) => server));
  const suggested = servers.filter((one) => isConnectable(one) && !known.has(one.id)).map(({ id }) => id);
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setQuery({ connect: '1' })} data-new>
      {t('connect')}
    </Button>
  );
  const close = (): void =>
    setQuery({ connect: undefined, authorization: undefined, server: undefined, scopes: undefined });
  return (
    <Page
      title={t('title')}
      count={connections.data && format.number(items.length)}
      purpose={t('purpose')}
      actions={add}
    >
      <Loaded query={connections} off={connectionsOf().off}>
        {() => (
          <List
            name="connections"
            rows={items}
            columns={columns}
            rowId={({ server }) => server}
            searchPlaceholder={t('search')}
            fresh={freshOf(connections)}
            unpaged
            menu={(row) => [
              {
                label: t('connect.again'),
                icon: 'refresh',
                act: () => setQuery({ connect: row.server }),
              },
              { label: t('disconnect'), icon: 'trash', tone: 'danger', act: () => doom(row) },
            ]}
            empty={
              <EmptyState title={t('empty.title')} actions={add}>
                {t('empty.text')}
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {(connect !== undefined || offered !== undefined) && (
        <Connect
          key={connect ?? authorization}
          server={offered ? query.server : connect === '1' ? undefined : connect}
          authorization={offered}
          suggested={suggested}
          onClose={close}
        />
      )}
      {doomed && <Disconnect of={doomed} onClose={() => doom(undefined)} />}
    </Page>
  );
}
