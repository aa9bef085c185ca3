import { useMay } from '../../data/identity.ts';
import { type Say, useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { KEY_STATES, keysOf, MAKES } from './key.ts';
import { NewKey, useKeyActions } from './key-acts.tsx';
import { keyColumns } from './key-columns.tsx';
import texts from './texts.json' with { type: 'json' };

const filtersOf = (t: Say<keyof typeof texts>): Filter[] => [
  {
    key: 'state',
    kind: 'choice',
    label: t('column.state'),
    options: KEY_STATES.map((state) => [state, t(`state.${state}`)]),
  },
  { key: 'user', kind: 'text', label: t('new.user') },
];

export default function Keys() {
  const t = useTexts(texts);
  const may = useMay();
  const [{ user, state }] = useQueryState();
  const { menu, dialog } = useKeyActions();
  return (
    <ListScreen
      name="keys"
      texts={texts}
      pages={usePages(keysOf({ user, state }))}
      isSearchedHere
      columns={keyColumns}
      filters={filtersOf}
      menu={menu}
      create={
        may(MAKES) && {
          label: t('new.title'),
          dialog: (close) => <NewKey user={user} onClose={close} />,
        }
      }
    >
      {dialog}
    </ListScreen>
  );
}
