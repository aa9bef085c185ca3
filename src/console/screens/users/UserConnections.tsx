import { useResource } from '../../data/queries.ts';
import { type DataColumn, DataTable } from '../../design/DataTable.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { type Connection, connectionsOf } from '../connections/connection.ts';
import { useConnectionColumns } from '../connections/use-connection-columns.tsx';
import { texts } from './texts.ts';

/** The accounts that a user has connected. Only the user can end them. */
export const UserConnections = ({ user }: { user: string }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const source = connectionsOf(user);
  const connections = useResource(source);
  const columns: DataColumn<Connection>[] = useConnectionColumns()
    .filter(({ isExtra }) => !isExtra)
    .map(({ label, cell, value }) => ({
      label,
      cell: (row) => cell?.(row, (text) => text) ?? String(value(row)),
    }));
  return (
    <Card
      title={t('connections')}
      note={connections.data && format.number(connections.data.items.length)}
      flush
    >
      <Loaded query={connections} off={source.off} plain skeleton={<SkeletonRows rows={1} />}>
        {({ items }) => (
          <DataTable
            label={t('connections')}
            rows={items}
            rowId={({ server }) => server}
            none={t('connections.none')}
            columns={columns}
          />
        )}
      </Loaded>
    </Card>
  );
};
