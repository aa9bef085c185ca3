import { useMemo, useState } from 'react';
import { GrantsField } from '../../access/GrantsField.tsx';
import { type Places, refusedFields } from '../../access/refusal.ts';
import type { JsonObject } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { toast } from '../../feedback/toasts.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { changesIn, wordsFrom } from '../../schema-form/hints.ts';
import { ApiKey, changedKeys } from './key.ts';
import { texts } from './texts.ts';

const SCHEMA = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 128 },
    days: { type: 'integer', minimum: 1, maximum: 36_500 },
    grants: { type: 'array', items: { type: 'string' } },
  },
};

const UI = { grants: { 'ui:widget': 'grants' } };
const WIDGETS = { grants: GrantsField };

const PLACES: Places = [
  [/^name /, 'name'],
  [/^grants/, 'grants'],
  [/^expires_in_secs /, 'days'],
];

const DAY_SECS = 86_400;

/** Renames a key, takes grants or shortens its life. */
export const EditKey = ({ of, onClose }: { of: ApiKey; onClose: () => void }) => {
  const t = useTexts(texts);
  const before: JsonObject = { name: of.name, ...(of.grants && { grants: of.grants }) };
  const [draft, setDraft] = useState(before);
  const save = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    const { days, ...changed } = changesIn(before, draft);
    // Without grants, the form has no list; a key that had one keeps an empty list.
    const grants = 'grants' in changed && { grants: changed.grants ?? [] };
    const life = typeof days === 'number' && { expires_in_secs: days * DAY_SECS };
    try {
      const body = { ...changed, ...grants, ...life };
      await send({ method: 'PATCH', path: pathOf`/v1/keys/${of.id}`, body }, ApiKey);
    } catch (error) {
      return refusedFields(error, PLACES);
    }
    changedKeys();
    toast('success', t('edit.done', { name: String(draft.name) }));
    return undefined;
  };
  const words = useMemo(() => {
    const own = wordsFrom(t, texts, (place) => `edit.${place}`);
    const isNarrowed = of.grants !== undefined;
    return (place: string) => (place === 'grants.none' && !isNarrowed ? t('new.grants.none') : own(place));
  }, [t, of.grants]);
  return (
    <RequestDialog
      title={t('edit.title', { name: of.name })}
      submit={t('edit.save')}
      schema={SCHEMA}
      ui={UI}
      widgets={WIDGETS}
      words={words}
      value={draft}
      onChange={setDraft}
      onSubmit={save}
      onClose={onClose}
    />
  );
};
