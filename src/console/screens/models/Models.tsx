import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { metaOf, NamedRecord, recordsOf } from '../../data/records.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { StoredEntry } from '../../entry/StoredEntry.tsx';
import { newEntry, useEntryAddress } from '../../entry/use-opened.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import { useModelColumns } from './columns.tsx';
import { ModelForm } from './ModelForm.tsx';
import { ModelTest } from './ModelTest.tsx';
import { MODEL, MODELS } from './model.ts';
import { texts } from './texts.ts';

const META = metaOf('models');
const PROVIDERS = recordsOf('providers', NamedRecord);

export default function Models() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(MODELS);
  const meta = useResource(META).data;
  const providers = useResource(PROVIDERS).data;
  const columns = useModelColumns();
  const address = useEntryAddress();
  const [doomed, setDoomed] = useState<string>();
  const [tested, setTested] = useState<string>();
  const rows = useMemo(
    () =>
      (query.data ?? []).map((model) => ({
        ...model,
        modified: meta?.get(model.id)?.updated_at,
        isDangling: providers?.every(({ id }) => id !== model.provider_id) ?? false,
      })),
    [query.data, meta, providers],
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
      <Loaded query={query} off={MODELS.off}>
        {() => (
          <List
            name="models"
            rows={rows}
            columns={columns}
            rowId={({ id }) => id}
            onOpen={({ id }) => address.edit(id)}
            openId={address.id}
            searchPlaceholder={t('search')}
            fresh={freshOf(query)}
            actions={({ id }) => (
              <>
                <Button small data-testid={`test-model-${id}`} onClick={() => setTested(id)}>
                  {t('test')}
                </Button>
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
              <EmptyState
                title={t('empty.title')}
                actions={
                  providers?.length === 0 ? (
                    <ScreenLink to="/providers?new=1" className={buttonLook}>
                      {t('empty.provider')}
                    </ScreenLink>
                  ) : (
                    create
                  )
                }
              >
                {t('empty.text')}
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {address.isNew && (
        <ModelForm
          opened={newEntry({ id: '', provider_id: '', upstream_model: '' })}
          onClose={address.close}
        />
      )}
      {address.id !== undefined && (
        <StoredEntry kind={MODEL} id={address.id}>
          {(opened) => <ModelForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {tested !== undefined && (
        <ModelTest first={tested} models={query.data ?? []} onClose={() => setTested(undefined)} />
      )}
      {doomed !== undefined && <DeleteDialog {...MODEL} id={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}
