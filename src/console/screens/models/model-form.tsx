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
import {
  check,
  DIRECTIONS,
  type Direction,
  defaultsOf,
  kindsOf,
  LIMITS,
  PART_PRICES,
  PRICES,
  withKind,
} from './model.ts';
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

const Kinds = (props: SeenProps & { direction: Direction; options: readonly unknown[] }) => {
  const t = useTexts(texts);
  const { direction, value, options } = props;
  const kinds = kindsOf(value, direction);
  const known = kindsOf(useKnown(useEntryForm()).modalities, direction);
  return (
    <fieldset className={css.box}>
      <legend>{t(`kinds.${direction}`)}</legend>
      <span className={css.row}>
        {options.map(String).map((kind) => (
          <CheckField
            key={kind}
            label={kind}
            checked={kinds.includes(kind)}
            onChange={(isTaken) => props.onChange(withKind(value, direction, kind, isTaken))}
          />
        ))}
      </span>
      {kinds.length === 0 && known.length > 0 && (
        <span className={css.quiet}>{t('known.kinds', { kinds: known.join(', ') })}</span>
      )}
    </fieldset>
  );
};

/** Which kinds of content the model reads and writes. */
const Modalities = (props: SeenProps) => {
  const { view } = props.seen;
  if (view.kind !== 'object') return null;
  return view.properties.map(({ name, schema }) => {
    const direction = DIRECTIONS.find((each) => each === name);
    const { view: list } = seen(schema, schema);
    const items = list.kind === 'list' ? seen(list.items, schema).view : undefined;
    if (!direction || items?.kind !== 'enum') return null;
    return <Kinds key={name} {...props} direction={direction} options={items.options} />;
  });
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
  ui: { ...MODEL_UI, modalities: { 'ui:widget': 'modalities' } },
  widgets: { modalities: Modalities },
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
