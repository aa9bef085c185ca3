import { type ReactNode, useState } from 'react';
import { ActDialog } from '../../access/ActDialog.tsx';
import { useMay } from '../../data/identity.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { type DataColumn, DataTable } from '../../design/DataTable.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { type Say, useFormat, useTexts } from '../../i18n/locale.ts';
import { inTable } from '../../list/columns.tsx';
import { LoadedPages, More } from '../../list/PagedList.tsx';
import { RowMenu } from '../../list/RowMenu.tsx';
import { useColumns } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { connectionsOf } from '../connections/connection.ts';
import { connectionColumns } from '../connections/connection-columns.tsx';
import connectionTexts from '../connections/texts.json' with { type: 'json' };
import { type ApiKey, keysOf, MAKES } from '../keys/key.ts';
import { NewKey, useKeyActions } from '../keys/key-acts.tsx';
import { keyColumns } from '../keys/key-columns.tsx';
import keyTexts from '../keys/texts.json' with { type: 'json' };
import texts from './texts.json' with { type: 'json' };
import { browserOf, endSession, type Session, sessionsOf } from './user.ts';

/** The keys, the sessions and the connections of a user. */

const SHOWN = ['name', 'hint', 'state', 'grants', 'used', 'expires'];

export const UserKeys = ({ user }: { user: string }) => {
  const t = useTexts(texts);
  const may = useMay();
  const [isNew, setNew] = useState(false);
  const pages = usePages(keysOf({ user }));
  const { menu, dialog } = useKeyActions();
  const columns = useColumns(keyTexts, keyColumns).filter(({ id }) => SHOWN.includes(id));
  const actions: DataColumn<ApiKey> = {
    label: t('keys.actions'),
    cell: (key) => <RowMenu id={key.id} items={menu(key)} />,
  };
  return (
    <Card
      title={t('keys')}
      note={pages.total}
      flush
      actions={
        may(MAKES) && (
          <Button small icon="plus" onClick={() => setNew(true)}>
            {t('keys.new')}
          </Button>
        )
      }
    >
      <LoadedPages pages={pages} plain skeleton={<SkeletonRows rows={2} />}>
        <DataTable
          label={t('keys')}
          columns={[...inTable(columns), actions]}
          rows={pages.rows}
          rowId={({ id }) => id}
          none={t('keys.none')}
        />
      </LoadedPages>
      <More pages={pages} />
      {isNew && <NewKey user={user} onClose={() => setNew(false)} />}
      {dialog}
    </Card>
  );
};

const ItemCard = <Row,>(props: {
  of: 'sessions' | 'connections';
  source: Resource<{ items: Row[] }>;
  columns: readonly DataColumn<Row>[];
  rowId: (row: Row) => string;
  children?: ReactNode;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { of, source, columns, rowId } = props;
  const query = useResource(source);
  return (
    <Card title={t(of)} note={query.data && format.number(query.data.items.length)} flush>
      <Loaded query={query} off={source.off} plain skeleton={<SkeletonRows rows={1} />}>
        {({ items }) => (
          <DataTable label={t(of)} rows={items} rowId={rowId} none={t(`${of}.none`)} columns={columns} />
        )}
      </Loaded>
      {props.children}
    </Card>
  );
};

/** The accounts that a user has connected. Only the user can end them. */
export const UserConnections = ({ user }: { user: string }) => {
  const columns = useColumns(connectionTexts, connectionColumns).filter(({ isExtra }) => !isExtra);
  return (
    <ItemCard
      of="connections"
      source={connectionsOf(user)}
      columns={inTable(columns)}
      rowId={({ server }) => server}
    />
  );
};

const sessionColumns = (
  t: Say<keyof typeof texts>,
  end: (session: Session) => void,
): DataColumn<Session>[] => [
  {
    label: t('session.browser'),
    cell: ({ user_agent: agent, current }) => (
      <span className="row">
        <span title={agent ?? undefined}>{browserOf(agent)}</span>
        {current && <Chip tone="success">{t('session.current')}</Chip>}
      </span>
    ),
  },
  { label: t('session.ip'), cell: ({ ip, last_used_ip: last }) => <code>{last ?? ip ?? '—'}</code> },
  { label: t('session.created'), cell: ({ created_at: at }) => <DateTime at={at} /> },
  { label: t('session.used'), cell: ({ last_used_at: at }) => <Ago at={at} /> },
  { label: t('session.expires'), cell: ({ expires_at: at }) => <DateTime at={at} /> },
  {
    label: t('keys.actions'),
    cell: (session) => (
      <Button small onClick={() => end(session)}>
        {t('session.confirm')}
      </Button>
    ),
  },
];

/** The browsers in which a user is signed in. */
export const UserSessions = ({ user }: { user: string }) => {
  const t = useTexts(texts);
  const [ending, end] = useState<Session>();
  return (
    <ItemCard of="sessions" source={sessionsOf(user)} columns={sessionColumns(t, end)} rowId={({ id }) => id}>
      {ending && (
        <ActDialog
          texts={texts}
          of="session"
          values={{ browser: browserOf(ending.user_agent), ip: ending.ip ?? '—' }}
          act={() => endSession(ending.id)}
          onClose={() => end(undefined)}
        />
      )}
    </ItemCard>
  );
};
