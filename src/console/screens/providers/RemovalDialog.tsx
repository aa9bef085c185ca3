import { type Guarded, list, object, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import type { Dependant } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';
import { useTexts } from '../../i18n/locale.ts';
import { DeleteDialog, Dependants } from '../../shell/DeleteDialog.tsx';
import { texts } from './texts.ts';

const Preview = object({ model_ids: list(text), pool_ids: list(text), agent_ids: list(text) });

const previewOf = (id: string): Resource<Guarded<typeof Preview>> => ({
  path: pathOf`/v1/config/providers/${id}/removal-preview`,
  guard: Preview,
});

const entriesOf = ({ model_ids, pool_ids, agent_ids }: Guarded<typeof Preview>): Dependant[] => [
  ...model_ids.map((id) => ({ namespace: 'models', id })),
  ...pool_ids.map((id) => ({ namespace: 'model-pools', id })),
  ...agent_ids.map((id) => ({ namespace: 'agents', id })),
];

/** Before a provider is deleted its user sees everything that stands on it, not only what names it. */
export const RemovalDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const t = useTexts(texts);
  const preview = useResource(previewOf(id));
  if (!preview.data && !preview.error) return null;
  const entries = preview.data ? entriesOf(preview.data) : [];
  return (
    <DeleteDialog namespace="providers" entity="entity.provider" id={id} onClose={onClose}>
      {preview.data && entries.length === 0 && <p>{t('removal.none')}</p>}
      {entries.length > 0 && (
        <section aria-label={t('removal.title')}>
          <p>{t('removal.text')}</p>
          <Dependants entries={entries} />
        </section>
      )}
    </DeleteDialog>
  );
};
