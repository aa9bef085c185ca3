import { useMemo } from 'react';
import { GrantChips } from '../../access/Grants.tsx';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { PagedList } from '../../list/PagedList.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useGo } from '../../navigation/links.tsx';
import { texts } from './texts.ts';
import { KindChip, StateChip } from './UserChips.tsx';
import { NewUser } from './UserForm.tsx';
import { USER_KINDS, type User, userHref, usersOf } from './user.ts';

const useColumns = (): Column<User>[] => {
  const t = useTexts(texts);
  return useMemo(() => {
    const columns: Column<User>[] = [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        shortened: true,
        value: ({ id }) => id,
        cell: ({ id }, mark) => <span title={id}>{mark(id)}</span>,
      },
      {
        id: 'name',
        label: t('field.name'),
        shortened: true,
        value: ({ name, email }) => name ?? email ?? '—',
      },
      {
        id: 'kind',
        label: t('column.kind'),
        value: ({ kind }) => kind,
        cell: ({ kind }) => <KindChip kind={kind} />,
      },
      {
        id: 'state',
        label: t('column.state'),
        value: ({ disabled }) => String(disabled),
        cell: ({ disabled }) => <StateChip disabled={disabled} />,
      },
      {
        id: 'grants',
        label: t('column.grants'),
        value: ({ grants }) => grants.join(' '),
        cell: ({ grants, token_grants: more }) => <GrantChips grants={[...new Set([...grants, ...more])]} />,
      },
      {
        id: 'seen',
        label: t('column.seen'),
        value: ({ last_seen_at: at }) => at ?? 0,
        cell: ({ last_seen_at: at }) => (at === null ? t('never') : <Ago at={at} />),
      },
    ];
    // The service lists users in the order of their ids only.
    return columns.map((column) => ({ ...column, unsorted: true }));
  }, [t]);
};

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        key: 'kind',
        kind: 'choice',
        label: t('column.kind'),
        options: USER_KINDS.map((kind) => [kind, t(`kind.${kind}`)] as const),
      },
    ],
    [t],
  );
};

export default function Users() {
  const t = useTexts(texts);
  const go = useGo();
  const [{ new: isNew, kind, q }, setQuery] = useQueryState();
  const pages = usePages(usersOf({ kind, q }));
  const columns = useColumns();
  const filters = useFilters();
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setQuery({ new: '1' })} data-new>
      {t('new')}
    </Button>
  );
  return (
    <Page title={t('title')} count={pages.total} purpose={t('purpose')} actions={create} fills>
      <PagedList
        name="users"
        pages={pages}
        columns={columns}
        rowId={({ id }) => id}
        rowHref={({ id }) => userHref(id)}
        searchPlaceholder={t('search')}
        filterBy={filters}
        menu={({ id }) => [
          { label: t('menu.keys'), icon: 'key', act: `/keys?user=${encodeURIComponent(id)}` },
        ]}
        empty={
          <EmptyState title={t('empty.title')} actions={create}>
            {t('empty.text')}
          </EmptyState>
        }
      />
      {isNew === '1' && (
        <NewUser onMade={(id) => go(userHref(id))} onClose={() => setQuery({ new: undefined })} />
      )}
    </Page>
  );
}
