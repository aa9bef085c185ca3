import { GrantChips } from '../../access/Grants.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { FIRST } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useGo } from '../../navigation/links.tsx';
import texts from './texts.json' with { type: 'json' };
import { KindChip, StateChip } from './UserChips.tsx';
import { USER_KINDS, type User, userHref, usersOf } from './user.ts';
import { NewUser } from './user-acts.tsx';

type T = Say<keyof typeof texts>;

// The service lists users in the order of their ids only.
const columnsOf: ColumnsOf<User, keyof typeof texts> = (t) => [
  { id: 'id', label: t('field.id'), ...FIRST, unsorted: true, value: ({ id }) => id },
  {
    id: 'name',
    isWide: true,
    label: t('field.name'),
    shortened: true,
    unsorted: true,
    value: ({ name, email }) => name ?? email ?? '—',
  },
  {
    id: 'kind',
    isWide: true,
    label: t('field.kind'),
    unsorted: true,
    value: ({ kind }) => kind,
    cell: ({ kind }) => <KindChip kind={kind} />,
  },
  {
    id: 'state',
    unsorted: true,
    value: ({ disabled }) => String(disabled),
    cell: ({ disabled }) => <StateChip disabled={disabled} />,
  },
  {
    id: 'grants',
    isWide: true,
    label: t('field.grants'),
    unsorted: true,
    value: ({ grants }) => grants.join(' '),
    cell: ({ grants, token_grants: more }) => <GrantChips grants={[...new Set([...grants, ...more])]} />,
  },
  { id: 'seen', unsorted: true, at: ({ last_seen_at: at }) => at, none: t('never') },
];

const filtersOf = (t: T): Filter[] => [
  {
    key: 'kind',
    kind: 'choice',
    label: t('field.kind'),
    options: USER_KINDS.map((kind) => [kind, t(`field.kind.${kind}`)]),
  },
];

export default function Users() {
  const t = useTexts(texts);
  const go = useGo();
  const [{ kind, q }] = useQueryState();
  return (
    <ListScreen
      name="users"
      texts={texts}
      pages={usePages(usersOf({ kind, q }))}
      columns={columnsOf}
      filters={filtersOf}
      rowHref={({ id }) => userHref(id)}
      menu={({ id }) => [{ label: t('menu.keys'), icon: 'key', act: `/keys?user=${encodeURIComponent(id)}` }]}
      create={{
        label: t('new.title'),
        dialog: (close) => <NewUser onMade={(id) => go(userHref(id))} onClose={close} />,
      }}
      fills
    />
  );
}
