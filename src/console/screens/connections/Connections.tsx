import { useEffect, useRef } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { useMay } from '../../data/identity.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ListScreen } from '../../list/ListScreen.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { Connect } from './Connect.tsx';
import { confirmAuthorization, connectionsOf, disconnect, isConnectable, SERVERS } from './connection.ts';
import { connectionColumns } from './connection-columns.tsx';
import texts from './texts.json' with { type: 'json' };

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

const Disconnect = ({ server, onClose }: { server: string; onClose: () => void }) => (
  <ActDialog
    texts={texts}
    of="disconnect"
    values={{ server }}
    act={() => disconnect(server)}
    onClose={onClose}
  />
);

export default function Connections() {
  const t = useTexts(texts);
  const may = useMay();
  const [query, setQuery] = useQueryState();
  const connections = useResource(connectionsOf());
  const servers = useResource(SERVERS, may(['observe'])).data ?? [];
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
      {t('connect.title')}
    </Button>
  );
  const close = (): void =>
    setQuery({ connect: undefined, authorization: undefined, server: undefined, scopes: undefined });
  return (
    <ListScreen
      name="connections"
      texts={texts}
      query={connections}
      off={connectionsOf().off}
      rows={items}
      columns={connectionColumns}
      rowId={({ server }) => server}
      unpaged
      menu={(row) => [
        { label: t('connect.again'), icon: 'refresh', act: () => setQuery({ connect: row.server }) },
        {
          label: t('disconnect'),
          icon: 'trash',
          tone: 'danger',
          dialog: (close) => <Disconnect server={row.server} onClose={close} />,
        },
      ]}
      head={add}
      first={add}
    >
      {(connect !== undefined || offered !== undefined) && (
        <Connect
          key={connect ?? authorization}
          server={offered ? query.server : connect === '1' ? undefined : connect}
          authorization={offered}
          suggested={suggested}
          onClose={close}
        />
      )}
    </ListScreen>
  );
}
