import type { JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { capabilities } from '../../data/resources.ts';
import { CheckField } from '../../design/Field.tsx';
import { EntryDrawer } from '../../entry/EntryDrawer.tsx';
import { type Opened, textOf } from '../../entry/entry.ts';
import { IdEntry, NumberEntry, SelectEntry, TextEntry } from '../../entry/fields.tsx';
import { type EntryForm, useEntry } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ModelSettings } from '../../model-settings/ModelSettings.tsx';
import { texts as settingTexts } from '../../model-settings/texts.ts';
import { ReasoningEffort } from '../agent-editor/basics/ReasoningEffort.tsx';
import css from './Models.module.css';
import {
  check,
  FIELDS,
  kindsOf,
  MODALITIES,
  MODEL,
  PART_PRICES,
  PRICES,
  placeholdersOf,
  withModality,
} from './model.ts';
import { texts } from './texts.ts';

const PROVIDERS = recordsOf('providers', NamedRecord);
const POOLS = recordsOf('model-pools', NamedRecord);

const Kinds = (props: {
  form: EntryForm;
  direction: 'input' | 'output';
  label: string;
  known: JsonObject;
}) => {
  const t = useTexts(texts);
  const { form, direction } = props;
  const known = kindsOf(props.known, direction);
  const kinds = kindsOf(form.draft, direction);
  return (
    <fieldset className={css.kinds}>
      <legend>{props.label}</legend>
      {MODALITIES.map((kind) => (
        <CheckField
          key={kind}
          label={kind}
          checked={kinds.includes(kind)}
          onChange={(isTaken) => form.set(withModality(form.draft, direction, kind, isTaken))}
        />
      ))}
      {kinds.length === 0 && known.length > 0 && (
        <span className={css.quiet}>{t('known.kinds', { kinds: known.join(', ') })}</span>
      )}
    </fieldset>
  );
};

const ProviderEntry = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const providers = useResource(PROVIDERS).data;
  const chosen = textOf(form.draft.provider_id);
  const isMissing = chosen !== '' && providers?.every(({ id }) => id !== chosen);
  return (
    <SelectEntry
      form={form}
      name="provider_id"
      label={t('field.provider')}
      required
      options={[
        ...(chosen === '' ? [['', t('field.provider.choose')] as const] : []),
        ...(isMissing ? [[chosen, t('field.provider.missing', { id: chosen })] as const] : []),
        ...(providers ?? []).map(({ id }) => [id, id] as const),
      ]}
    />
  );
};

const NOTHING_KNOWN: JsonObject = {};

/** What the service knows of the model that the draft names, once an entry names it. */
const useKnown = ({ draft }: EntryForm): JsonObject => {
  const models = useResource(capabilities).data?.models;
  const same = models?.find(
    (model) => model.provider_id === draft.provider_id && model.upstream_model === draft.upstream_model,
  );
  return same?.known ?? NOTHING_KNOWN;
};

/** Limits and prices; what is known of the model is shown where a field is empty. */
const Figures = ({ form, known }: { form: EntryForm; known: JsonObject }) => {
  const t = useTexts(texts);
  const placeholders = placeholdersOf(form.draft, known);
  const entryOf = (name: string) => ({ form, name, placeholder: placeholders.get(name) });
  return (
    <>
      <div className={css.two}>
        <NumberEntry {...entryOf('context_window')} label={t('field.window')} />
        <NumberEntry {...entryOf('max_output_tokens')} label={t('field.output')} />
        {PRICES.map(({ field, text }) => (
          <NumberEntry key={field} {...entryOf(field)} label={t(`field.${text}`)} />
        ))}
        {PART_PRICES.map(({ field, text }) => (
          <NumberEntry
            key={field}
            {...entryOf(field)}
            label={t(`field.${text}`)}
            hint={t(`field.${text}.hint`)}
          />
        ))}
        <TextEntry {...entryOf('knowledge_cutoff')} label={t('field.cutoff')} hint={t('field.cutoff.hint')} />
      </div>
      {placeholders.size > 0 && <p className={css.quiet}>{t('known')}</p>}
    </>
  );
};

export const ModelForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const settings = useTexts(settingTexts);
  const pools = useResource(POOLS).data;
  const taken = new Set(opened.isNew ? pools?.map(({ id }) => id) : []);
  const form = useEntry(opened, { ...MODEL, check: check(taken), fields: FIELDS }, onClose);
  const known = useKnown(form);
  const { id } = form.draft;
  const isNew = form.opened.isNew;
  return (
    <EntryDrawer
      title={isNew ? (id === '' ? t('new') : t('new.titled', { id })) : t('edit.title')}
      form={form}
      onClose={onClose}
    >
      <div className={css.two}>
        <IdEntry form={form} label={t('field.id')} />
        <ProviderEntry form={form} />
      </div>
      <TextEntry
        form={form}
        name="upstream_model"
        label={t('field.upstream')}
        hint={t('field.upstream.hint')}
        required
      />
      <Figures form={form} known={known} />
      <div className={css.two}>
        <Kinds form={form} direction="input" label={t('field.input')} known={known} />
        <Kinds form={form} direction="output" label={t('field.output.kinds')} known={known} />
      </div>
      <h3>{settings('title')}</h3>
      <ReasoningEffort
        value={form.draft.reasoning_effort}
        error={form.errors.get('reasoning_effort')}
        onChange={(reasoning_effort) => form.set({ reasoning_effort })}
      />
      <ModelSettings
        spec={form.draft}
        errors={form.errors}
        change={form.set}
        // The service refuses text that is no object, and the field says so before.
        onUnread={(field, text) => {
          if (text !== undefined) form.set({ [field]: text });
        }}
      />
    </EntryDrawer>
  );
};
