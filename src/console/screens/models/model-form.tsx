import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { capabilities, type ModelFigures, NOTHING_KNOWN } from '../../data/resources.ts';
import { CheckField } from '../../design/Field.tsx';
import css from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { MODEL_FIELDS, MODEL_UI } from '../../model-settings/model-fields.ts';
import { texts as settingTexts } from '../../model-settings/texts.ts';
import type { SeenProps } from '../../schema-form/context.ts';
import { seen } from '../../schema-form/schema.ts';
import { check, defaultsOf, LIMITS, PART_PRICES, PRICES } from './model.ts';
import { texts } from './texts.ts';

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

/** Which kinds of content the model reads or writes, as check boxes. */
const Kinds = ({ label, path, value, seen: own, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const { modalities } = useKnown(useEntryForm());
  const known = (path.endsWith('input') ? modalities?.input : modalities?.output) ?? [];
  const items = own.view.kind === 'list' ? seen(own.view.items, own.schema).view : undefined;
  const kinds = items?.kind === 'enum' ? items.options : [];
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const toggle = (kind: unknown, isTaken: boolean): void => {
    const next = isTaken ? [...chosen, kind] : chosen.filter((other) => other !== kind);
    onChange(next.length > 0 ? next : undefined);
  };
  return (
    <fieldset className={css.box}>
      <legend>{label}</legend>
      <span className={css.row}>
        {kinds.map((kind) => (
          <CheckField
            key={String(kind)}
            label={String(kind)}
            checked={chosen.includes(kind)}
            onChange={(isTaken) => toggle(kind, isTaken)}
          />
        ))}
      </span>
      {chosen.length === 0 && known.length > 0 && (
        <span className={css.quiet}>{t('known.kinds', { kinds: known.join(', ') })}</span>
      )}
    </fieldset>
  );
};

/** Explains the values that empty fields show. */
const KnownFigures = () => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const known = useKnown(form);
  return Object.keys(defaultsOf(form.draft, known)).length === 0 ? null : (
    <p className={css.quiet}>{t('known')}</p>
  );
};

const KINDS = { 'ui:widget': 'kinds' };

export const MODEL: EntryDescriptor = {
  namespace: 'models',
  entity: 'entity.model',
  texts: {
    en: { ...settingTexts.en, ...texts.en },
    zhCN: { ...settingTexts.zhCN, ...texts.zhCN },
  },
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
  widgets: { kinds: Kinds },
  useSchema: (form) => {
    const providers = useResource(PROVIDERS).data;
    const known = useKnown(form);
    const { draft } = form;
    return useMemo(() => {
      const ids = (providers ?? []).map(({ id }) => id);
      const { provider_id: chosen } = draft;
      const isMissing = typeof chosen === 'string' && chosen !== '' && !ids.includes(chosen);
      return {
        ...defaultsOf(draft, known),
        provider_id: { enum: isMissing ? [...ids, chosen] : ids },
      };
    }, [providers, known, draft]);
  },
  check,
  After: KnownFigures,
};
