import { useState } from 'react';
import { useMay } from '../../data/identity.ts';
import { Button } from '../../design/Button.tsx';
import { type DataColumn, DataTable } from '../../design/DataTable.tsx';
import { Card } from '../../design/Layout.tsx';
import { ErrorBox } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { More } from '../../list/PagedList.tsx';
import { RowMenu } from '../../list/RowMenu.tsx';
import { usePages } from '../../list/use-pages.ts';
import { type ApiKey, keysOf, MAKES } from '../keys/key.ts';
import { useKeyColumns } from '../keys/key-columns.tsx';
import { NewKey } from '../keys/NewKey.tsx';
import { useKeyActions } from '../keys/use-key-actions.tsx';
import { texts } from './texts.ts';

const SHOWN = ['name', 'hint', 'state', 'grants', 'used', 'expires'];

/** The API keys of a user. */
export const UserKeys = ({ user }: { user: string }) => {
  const t = useTexts(texts);
  const may = useMay();
  const [isNew, setNew] = useState(false);
  const pages = usePages(keysOf({ user }));
  const { menu, dialog } = useKeyActions();
  const columns: DataColumn<ApiKey>[] = useKeyColumns()
    .filter(({ id }) => SHOWN.includes(id))
    .map(({ label, cell, value }) => ({
      label,
      cell: (key) => cell?.(key, (text) => text) ?? String(value(key)),
    }));
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
      {!pages.last && pages.error !== null && <ErrorBox plain error={pages.error} onRetry={pages.refresh} />}
      {!pages.last && pages.error === null && <SkeletonRows rows={2} />}
      {pages.last && (
        <DataTable
          label={t('keys')}
          columns={[
            ...columns,
            { label: t('keys.actions'), cell: (key) => <RowMenu id={key.id} items={menu(key)} /> },
          ]}
          rows={pages.rows}
          rowId={({ id }) => id}
          none={t('keys.none')}
        />
      )}
      <More pages={pages} />
      {isNew && <NewKey user={user} onClose={() => setNew(false)} />}
      {dialog}
    </Card>
  );
};
