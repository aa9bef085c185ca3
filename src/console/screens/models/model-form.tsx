import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { capabilities, type ModelFigures, NOTHING_KNOWN } from '../../data/resources.ts';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { MODEL_FIELDS, MODEL_UI } from '../../model-settings/model-fields.ts';
import settingTexts from '../../model-settings/texts.json' with { type: 'json' };
import { check, defaultsOf, LIMITS, PART_PRICES, PRICES } from './model.ts';
import texts from './texts.json' with { type: 'json' };

const PROVIDERS = recordsOf('providers', NamedRecord);

/**
 * Figures that the service has for the model of the draft. They are available only if a stored entry names the same
 * model.
 */
const useKnown = ({ draft }: Pick<EntryForm, 'draft'>): ModelFigures => {
  const models = useResource(capabilities).data?.models;
  const same = models?.find(
    (model) => model.provider_id === draft.provider_id && model.upstream_model === draft.upstream_model,
  );
  return same?.known ?? NOTHING_KNOWN;
};

/** Explains the values that empty fields show. */
const KnownFigures = () => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const known = useKnown(form);
  return Object.keys(defaultsOf(form.draft, known)).length === 0 ? null : (
    <p className="quiet">{t('known')}</p>
  );
};

const KINDS = { 'ui:widget': 'checkboxes' };

export const MODEL: EntryDescriptor = {
  namespace: 'models',
  entity: 'entity.model',
  texts: { ...settingTexts, ...texts },
  start: { id: '', provider_id: '', upstream_model: '' },
  fields: (_, group) => [
    'id',
    'provider_id',
    'upstream_model',
    group('limits', [...LIMITS, 'knowledge_cutoff', 'modalities']),
    group('prices', [...PRICES, ...PART_PRICES]),
    group('settings', ['reasoning_effort', ...MODEL_FIELDS]),
  ],
  ui: { ...MODEL_UI, modalities: { input: KINDS, output: KINDS } },
  useSchema: (form) => {
    const providers = useResource(PROVIDERS).data;
    const known = useKnown(form);
    const { draft } = form;
    const { modalities: kinds } = known;
    return useMemo(() => {
      const ids = (providers ?? []).map(({ id }) => id);
      const { provider_id: chosen } = draft;
      const isMissing = typeof chosen === 'string' && chosen !== '' && !ids.includes(chosen);
      return {
        ...defaultsOf(draft, known),
        modalities: {
          properties: { input: { default: kinds?.input }, output: { default: kinds?.output } },
        },
        provider_id: { enum: isMissing ? [...ids, chosen] : ids },
      };
    }, [providers, known, kinds, draft]);
  },
  check,
  After: KnownFigures,
};
