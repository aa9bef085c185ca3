import { type ComponentType, lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import { sourceState } from '../data/meta.ts';
import { useResource } from '../data/queries.ts';
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
import { useQueryState } from '../list/use-query-state.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import type { EntryDescriptor } from './EntryFields.tsx';
import type { EntryKind, Spec } from './entry.ts';
import ownTexts from './texts.json' with { type: 'json' };
import type { Entries } from './use-entries.ts';
import { useEntryAddress } from './use-opened-entry.ts';

const EntryEditor = lazy(() =>
  import('./EntryEditor.tsx').then((module) => ({ default: module.EntryEditor })),
);

/**
 * The screen of a namespace of the configuration: the list of its entries with search, creation, duplication and
 * deletion, and the form or the dialog that the address opens. A screen describes only what is special about it.
 *
 * @example
 * <EntryScreen kind={BUDGET} texts={texts} entries={useEntries(BUDGETS)} columns={columnsOf} />
 */

type Named = { id: string };

/** @param id the entry that the address names */
export type EntryDialog = ComponentType<{ id: string; onClose: () => void }>;

/** For actions of rows: the texts of the screen, and a function that opens a dialog for the row. */
export type OfRow<K extends string> = { t: Say<K>; open: (dialog: string) => void };

export type EntryScreenProps<Row extends Named, K extends string> = {
  /** With the form of entries, or without it if entries have pages. */
  kind: EntryDescriptor | EntryKind;
  texts: Texts<K>;
  entries: Entries<Row>;
  /** The columns between the id and the time of the last change. */
  columns: ListScreenProps<Row, K>['columns'];
  /** Content and searchable text of the first column, by default the id. */
  name?: Pick<Column<Row>, 'cell' | 'text'>;
  /** The path below which entries have pages. */
  pages?: string;
  /** By default, a row opens its page or its form. */
  onOpen?: (row: Row, of: OfRow<K>) => void;
  /** Dialogs by the parameter of the address that opens them. */
  dialogs?: Readonly<Record<string, EntryDialog>>;
  /** Also shows whether entries are built in. */
  showsSource?: boolean;
  /** Actions of a row, and of its menu, before those of all entries. */
  rowActions?: (row: Row, of: OfRow<K>) => ReactNode;
  menu?: (row: Row, of: OfRow<K>) => readonly MenuItem[];
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

const NO_DIALOGS: Readonly<Record<string, EntryDialog>> = {};

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

/** The dialog that the address opens, and a function that opens one. */
const useDialogs = (dialogs: Readonly<Record<string, EntryDialog>> = NO_DIALOGS) => {
  const [query, setQuery] = useQueryState();
  const name = Object.keys(dialogs).find((each) => query[each] !== undefined);
  const id = name === undefined ? undefined : query[name];
  const Dialog = name === undefined ? undefined : dialogs[name];
  return {
    id,
    open: (dialog: string, of: string): void => setQuery({ [dialog]: of }),
    dialog: name !== undefined && id !== undefined && Dialog && (
      <Dialog key={id} id={id} onClose={() => setQuery({ [name]: undefined })} />
    ),
  };
};

export const EntryScreen = <Row extends Named, K extends string>(
  props: EntryScreenProps<Row, K | ListKeys | 'new'>,
) => {
  const { kind, entries, pages, primary, onOpen } = props;
  const t = useTexts(props.texts);
  const say: Say<'new'> = t;
  const format = useFormat();
  const columns = useAllColumns(props);
  const address = useEntryAddress();
  const dialogs = useDialogs(props.dialogs);
  const [doomed, setDoomed] = useState<string>();
  const descriptor = 'fields' in kind ? kind : undefined;
  const own = useRowActions(pages, descriptor !== undefined, setDoomed);
  const of = ({ id }: Row) => ({ t, open: (dialog: string): void => dialogs.open(dialog, id) });
  const create = descriptor ? (
    <Button tone={primary ? undefined : 'primary'} icon="plus" onClick={() => address.create()} data-new>
      {say('new')}
    </Button>
  ) : (
    <ScreenLink to={`${pages}/new`} className={buttonLook} isNew>
      <NewLabel>{say('new')}</NewLabel>
    </ScreenLink>
  );
  const isFormOpen = descriptor !== undefined && (address.isNew || address.id !== undefined);
  return (
    <ListScreen
      name={kind.namespace}
      hasCards
      texts={props.texts}
      query={entries.query}
      off={entries.off}
      rows={entries.rows}
      count={entries.query.data && format.number(entries.count ?? entries.rows.length)}
      columns={columns}
      rowId={({ id }) => id}
      onOpen={(row) => (onOpen ? onOpen(row, of(row)) : address.edit(row.id))}
      rowHref={pages === undefined ? undefined : ({ id }) => `${pages}/${encodeURIComponent(id)}`}
      openId={address.id ?? dialogs.id}
      actions={(row) => (
        <>
          {props.rowActions?.(row, of(row))}
          {own.edit(row.id)}
        </>
      )}
      menu={(row) => [...(props.menu?.(row, of(row)) ?? []), ...own.menu(row.id)]}
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
      {isFormOpen ? (
        <Suspense>
          <EntryEditor descriptor={descriptor} start={props.start} />
        </Suspense>
      ) : (
        dialogs.dialog
      )}
      {doomed !== undefined && <DeleteDialog {...kind} id={doomed} onClose={() => setDoomed(undefined)} />}
    </ListScreen>
  );
};
