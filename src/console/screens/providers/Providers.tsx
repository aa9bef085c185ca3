import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { metaOf, NamedRecord, recordsOf } from '../../data/records.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { StoredEntry } from '../../entry/StoredEntry.tsx';
import { newEntry, useEntryAddress } from '../../entry/use-opened.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import { ProviderForm } from './ProviderForm.tsx';
import css from './Providers.module.css';
import { PROVIDER, PROVIDERS, type Provider } from './provider.ts';
import { RemovalDialog } from './RemovalDialog.tsx';
import { TestText } from './TestText.tsx';
import { runTest, tests, underTest } from './tests.ts';
import { texts } from './texts.ts';

const META = metaOf('providers');
const MODELS = recordsOf('models', NamedRecord);

type Row = Provider & { modified: number | undefined };

const LastTest = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const [newest] = useAtom(tests).get(id) ?? [];
  const isBusy = useAtom(underTest).has(id);
  if (isBusy) return <span className={css.quiet}>{t('test.busy')}</span>;
  return newest ? <TestText tested={newest} /> : <span className={css.quiet}>{t('test.never')}</span>;
};

const useColumns = (): Column<Row>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        value: (row) => row.id,
        cell: (row, mark) => <span className={css.mono}>{mark(row.id)}</span>,
      },
      { id: 'adapter', label: t('column.adapter'), value: (row) => row.adapter },
      {
        id: 'url',
        label: t('column.url'),
        value: (row) => row.base_url ?? '',
        cell: (row, mark) =>
          row.base_url ? (
            <span className={css.mono}>{mark(row.base_url)}</span>
          ) : (
            <span className={css.quiet}>{t('url.usual')}</span>
          ),
      },
      {
        id: 'key',
        label: t('column.key'),
        value: (row) => t(row.has_api_key ? 'key.stored' : 'key.none'),
      },
      {
        id: 'modified',
        label: t('column.modified'),
        value: (row) => row.modified,
        text: () => '',
        cell: (row) => <Ago at={row.modified} />,
      },
      {
        id: 'test',
        label: t('column.test'),
        value: () => undefined,
        unsorted: true,
        text: () => '',
        cell: (row) => <LastTest id={row.id} />,
      },
    ],
    [t],
  );
};

const RowActions = (props: { id: string; onEdit: () => void; onDelete: () => void }) => {
  const t = useTexts(texts);
  const { id } = props;
  const isBusy = useAtom(underTest).has(id);
  return (
    <>
      <IconButton
        small
        icon="diagnostics"
        label={t('test', { id })}
        disabled={isBusy}
        onClick={() => void runTest(id)}
      />
      <Button small onClick={props.onEdit}>
        {t('edit')}
      </Button>
      <IconButton small icon="trash" tone="danger" label={t('delete', { id })} onClick={props.onDelete} />
    </>
  );
};

export default function Providers() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(PROVIDERS);
  const meta = useResource(META).data;
  const models = useResource(MODELS).data;
  const columns = useColumns();
  const address = useEntryAddress();
  const [doomed, setDoomed] = useState<string>();
  const rows = useMemo(
    () => (query.data ?? []).map((one) => ({ ...one, modified: meta?.get(one.id)?.updated_at })),
    [query.data, meta],
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
      {rows.length > 0 && models?.length === 0 && (
        <Notice
          title={t('setup.title')}
          actions={
            <ScreenLink to="/models?new=1" className={buttonLook}>
              {t('setup.toModels')}
            </ScreenLink>
          }
        >
          {t('setup.models')}
        </Notice>
      )}
      <Loaded query={query} off={PROVIDERS.off}>
        {() => (
          <List
            name="providers"
            rows={rows}
            columns={columns}
            rowId={({ id }) => id}
            onOpen={({ id }) => address.edit(id)}
            openId={address.id}
            searchPlaceholder={t('search')}
            fresh={freshOf(query)}
            actions={({ id }) => (
              <RowActions id={id} onEdit={() => address.edit(id)} onDelete={() => setDoomed(id)} />
            )}
            empty={
              <EmptyState title={t('empty.title')} actions={create}>
                {t('empty.text')}
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {address.isNew && <ProviderForm opened={newEntry({ id: '', adapter: '' })} onClose={address.close} />}
      {address.id !== undefined && (
        <StoredEntry kind={PROVIDER} id={address.id}>
          {(opened) => <ProviderForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {doomed !== undefined && <RemovalDialog id={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}
