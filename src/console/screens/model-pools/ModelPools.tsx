import { useMemo, useState } from 'react';
import { object, optional, text } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { metaOf, recordsOf } from '../../data/records.ts';
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
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import css from './ModelPools.module.css';
import { PoolForm } from './PoolForm.tsx';
import { HOMES, POOL, POOLS, type Pool } from './pool.ts';
import { texts } from './texts.ts';

const META = metaOf('model-pools');
const AGENTS = recordsOf('agents', object({ id: text, model_id: optional(text) }));

type Row = Pool & { modified: number | undefined; agents: readonly string[] };

const Members = ({ row }: { row: Row }) => (
  <span className={css.chips}>
    {row.members.map(({ model_id, weight, role }) => (
      <Chip key={model_id} tone={role === 'failover_only' ? 'none' : 'info'}>
        {model_id}
        {weight !== undefined && weight !== 1 && ` ×${weight}`}
        {role === 'failover_only' && ' ⤵'}
      </Chip>
    ))}
  </span>
);

const useColumns = (): Column<Row>[] => {
  const t = useTexts(texts);
  return useMemo(() => {
    const homeOf = ({ routing }: Row): string => {
      const home = routing?.home ?? 'deterministic';
      const known = HOMES.find((each) => each === home);
      return known ? t(`home.${known}`) : home;
    };
    return [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        value: (row) => row.id,
        cell: (row, mark) => <span className={css.mono}>{mark(row.id)}</span>,
      },
      {
        id: 'members',
        label: t('column.members'),
        value: (row) => row.members.map(({ model_id }) => model_id).join(' '),
        cell: (row) => <Members row={row} />,
      },
      { id: 'routing', label: t('column.routing'), value: homeOf },
      {
        id: 'agents',
        label: t('column.usedBy'),
        align: 'end',
        value: (row) => row.agents.length,
        text: (row) => row.agents.join(' '),
        cell: (row) => <span title={row.agents.join(', ')}>{row.agents.length}</span>,
      },
      {
        id: 'modified',
        label: t('column.modified'),
        value: (row) => row.modified,
        text: () => '',
        cell: (row) => <Ago at={row.modified} />,
      },
    ];
  }, [t]);
};

export default function ModelPools() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(POOLS);
  const meta = useResource(META).data;
  const agents = useResource(AGENTS).data;
  const columns = useColumns();
  const address = useEntryAddress();
  const [doomed, setDoomed] = useState<string>();
  const rows = useMemo(
    () =>
      (query.data ?? []).map((pool) => ({
        ...pool,
        modified: meta?.get(pool.id)?.updated_at,
        agents: (agents ?? []).filter(({ model_id }) => model_id === pool.id).map(({ id }) => id),
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
      <Loaded query={query} off={POOLS.off}>
        {() => (
          <List
            name="model-pools"
            rows={rows}
            columns={columns}
            rowId={({ id }) => id}
            onOpen={({ id }) => address.edit(id)}
            openId={address.id}
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
      {address.isNew && <PoolForm opened={newEntry({ id: '', members: [] })} onClose={address.close} />}
      {address.id !== undefined && (
        <StoredEntry kind={POOL} id={address.id}>
          {(opened) => <PoolForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {doomed !== undefined && <DeleteDialog {...POOL} id={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}
