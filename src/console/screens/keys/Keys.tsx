import { useMemo } from 'react';
import { useMay } from '../../data/identity.ts';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { PagedList } from '../../list/PagedList.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { KEY_STATES, keysOf, MAKES } from './key.ts';
import { useKeyColumns } from './key-columns.tsx';
import { NewKey } from './NewKey.tsx';
import { texts } from './texts.ts';
import { useKeyActions } from './use-key-actions.tsx';

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        key: 'state',
        kind: 'choice',
        label: t('column.state'),
        options: KEY_STATES.map((state) => [state, t(`state.${state}`)] as const),
      },
      { key: 'user', kind: 'text', label: t('column.user') },
    ],
    [t],
  );
};

export default function Keys() {
  const t = useTexts(texts);
  const may = useMay();
  const [{ new: isNew, user, state }, setQuery] = useQueryState();
  const pages = usePages(keysOf({ user, state }));
  const columns = useKeyColumns();
  const filters = useFilters();
  const { menu, dialog } = useKeyActions();
  const create = may(MAKES) && (
    <Button tone="primary" icon="plus" onClick={() => setQuery({ new: '1' })} data-new>
      {t('new')}
    </Button>
  );
  return (
    <Page title={t('title')} count={pages.total} purpose={t('purpose')} actions={create}>
      <PagedList
        name="keys"
        pages={pages}
        isSearchedHere
        columns={columns}
        rowId={({ id }) => id}
        searchPlaceholder={t('search')}
        filterBy={filters}
        menu={menu}
        empty={
          <EmptyState title={t('empty.title')} actions={create}>
            {t('empty.text')}
          </EmptyState>
        }
      />
      {isNew === '1' && <NewKey user={user} onClose={() => setQuery({ new: undefined })} />}
      {dialog}
    </Page>
  );
}
