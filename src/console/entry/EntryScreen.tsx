import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import { sourceState } from '../data/meta.ts';
import { type Loaded as Query, type Resource, useResource } from '../data/queries.ts';
import { metaOf } from '../data/records.ts';
import { Button, buttonLook, NewLabel } from '../design/Button.tsx';
import { SourceChip } from '../design/SourceChip.tsx';
import feedbackTexts from '../feedback/texts.json' with { type: 'json' };
import { type Say, useFormat, useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { Column } from '../list/column.ts';
import { FIRST } from '../list/columns.tsx';
import { type ListKeys, ListScreen, type ListScreenProps } from '../list/ListScreen.tsx';
import type { ListProps } from '../list/list-props.ts';
import type { MenuItem } from '../list/RowMenu.tsx';
import type { ColumnsOf } from '../list/use-columns.tsx';
import { ScreenLink } from '../navigation/links.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import type { EntryDescriptor } from './EntryFields.tsx';
import type { EntryKind, Spec } from './entry.ts';
import ownTexts from './texts.json' with { type: 'json' };
import { useEntryAddress } from './use-opened-entry.ts';

const EntryEditor = lazy(() =>
  import('./EntryEditor.tsx').then((module) => ({ default: module.EntryEditor })),
);

/**
 * The screen of a namespace of the configuration: the list of its entries with search, creation, duplication and
 * deletion, and the form of the entry that the address opens. A screen describes only what is special about it.
 *
 * @example
 * <EntryScreen kind={POOL} texts={texts} query={pools} rows={rows} columns={columnsOf} />
 */

type Named = { id: string };

export type EntryScreenProps<Row extends Named, K extends string> = {
  /** With the form of entries, or without it if entries have pages. */
  kind: EntryDescriptor | EntryKind;
  texts: Texts<K>;
  query: Query<readonly unknown[]>;
  off?: Resource<unknown>['off'];
  rows: readonly Row[];
  /** The columns between the id and the time of the last change. */
  columns: ListScreenProps<Row, K>['columns'];
  /** Content and searchable text of the first column, by default the id. */
  name?: Pick<Column<Row>, 'cell' | 'text'>;
  /** Number in the title, by default that of the rows. */
  count?: number;
  /** The path below which entries have pages. */
  pages?: string;
  onOpen?: (row: Row) => void;
  openId?: string | undefined;
  /** Also shows whether entries are built in. */
  showsSource?: boolean;
  /** Actions of a row, and of its menu, before those of all entries. */
  rowActions?: (row: Row) => ReactNode;
  menu?: (row: Row) => readonly MenuItem[];
  /** Actions of the screen, before the one that creates an entry. */
  actions?: ReactNode;
  /** The main action, if it is not the creation of an entry. */
  primary?: ReactNode;
  /** The action of the empty screen, by default the creation of an entry. */
  first?: ReactNode;
  start?: Spec | undefined;
  filters?: ListScreenProps<Row, K>['filters'];
  list?: Partial<Pick<ListProps<Row>, 'usualSort' | 'filterBy' | 'tools' | 'exported' | 'bulk'>>;
  /** Shown in place of the list. */
  instead?: ReactNode;
  /** Content above the list. */
  children?: ReactNode;
};

const useAllColumns = <Row extends Named, K extends string>(
  props: EntryScreenProps<Row, K>,
): ColumnsOf<Row, K> => {
  const own = useTexts(ownTexts);
  const nameOf = useTexts(feedbackTexts);
  const { columns, name, showsSource, kind } = props;
  const meta = useResource(useMemo(() => metaOf(kind.namespace), [kind.namespace])).data;
  return useCallback(
    (t, format) => [
      { id: 'id', label: nameOf(kind.entity), ...FIRST, isCode: true, value: ({ id }) => id, ...name },
      ...columns(t, format),
      ...(showsSource
        ? [
            {
              id: 'source',
              label: own('column.source'),
              value: ({ id }: Row) => sourceState(meta?.get(id)),
              text: () => '',
              cell: ({ id }: Row) => <SourceChip state={sourceState(meta?.get(id))} />,
            },
          ]
        : []),
      {
        id: 'modified',
        label: own('column.modified'),
        at: ({ id }) => meta?.get(id)?.updated_at,
        title: ({ id }) => meta?.get(id)?.actor,
      },
    ],
    [own, nameOf, kind.entity, columns, name, showsSource, meta],
  );
};

/** The actions that rows have in all lists of entries. */
const useRowActions = (pages: string | undefined, hasForm: boolean, onDelete: (id: string) => void) => {
  const t = useTexts(ownTexts);
  const address = useEntryAddress();
  return {
    edit: (id: string): ReactNode =>
      hasForm && (
        <Button small onClick={() => address.edit(id)}>
          {t('edit')}
        </Button>
      ),
    menu: (id: string): MenuItem[] => [
      {
        label: t('duplicate'),
        icon: 'duplicate',
        act: hasForm ? () => address.create(id) : `${pages}/new?from=${encodeURIComponent(id)}`,
      },
      { label: t('delete.confirm'), icon: 'trash', tone: 'danger', act: () => onDelete(id) },
    ],
  };
};

export const EntryScreen = <Row extends Named, K extends string>(
  props: EntryScreenProps<Row, K | ListKeys | 'new'>,
) => {
  const { kind, query, rows, pages, primary } = props;
  const t: Say<'new'> = useTexts(props.texts);
  const format = useFormat();
  const columns = useAllColumns(props);
  const address = useEntryAddress();
  const [doomed, setDoomed] = useState<string>();
  const descriptor = 'fields' in kind ? kind : undefined;
  const own = useRowActions(pages, descriptor !== undefined, setDoomed);
  const create = descriptor ? (
    <Button tone={primary ? undefined : 'primary'} icon="plus" onClick={() => address.create()} data-new>
      {t('new')}
    </Button>
  ) : (
    <ScreenLink to={`${pages}/new`} className={buttonLook} isNew>
      <NewLabel>{t('new')}</NewLabel>
    </ScreenLink>
  );
  return (
    <ListScreen
      name={kind.namespace}
      hasCards
      texts={props.texts}
      query={query}
      off={props.off}
      rows={rows}
      count={query.data && format.number(props.count ?? rows.length)}
      columns={columns}
      rowId={({ id }) => id}
      onOpen={props.onOpen ?? (({ id }) => address.edit(id))}
      rowHref={pages === undefined ? undefined : ({ id }) => `${pages}/${encodeURIComponent(id)}`}
      openId={address.id ?? props.openId}
      actions={(row) => (
        <>
          {props.rowActions?.(row)}
          {own.edit(row.id)}
        </>
      )}
      menu={(row) => [...(props.menu?.(row) ?? []), ...own.menu(row.id)]}
      first={props.first ?? create}
      head={
        <>
          {props.actions}
          {create}
          {primary}
        </>
      }
      {...(props.filters && { filters: props.filters })}
      above={props.children}
      instead={props.instead}
      {...props.list}
    >
      {descriptor && (address.isNew || address.id !== undefined) && (
        <Suspense>
          <EntryEditor descriptor={descriptor} start={props.start} />
        </Suspense>
      )}
      {doomed !== undefined && <DeleteDialog {...kind} id={doomed} onClose={() => setDoomed(undefined)} />}
    </ListScreen>
  );
};
