import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
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
import { check, FIELDS, kindsOf, MODALITIES, MODEL, withModality } from './model.ts';
import { texts } from './texts.ts';

const PROVIDERS = recordsOf('providers', NamedRecord);
const POOLS = recordsOf('model-pools', NamedRecord);

const Kinds = (props: { form: EntryForm; direction: 'input' | 'output'; label: string }) => {
  const { form, direction } = props;
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

export const ModelForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const settings = useTexts(settingTexts);
  const pools = useResource(POOLS).data;
  const taken = new Set(opened.isNew ? pools?.map(({ id }) => id) : []);
  const form = useEntry(opened, { ...MODEL, check: check(taken), fields: FIELDS }, onClose);
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
      <div className={css.two}>
        <NumberEntry form={form} name="context_window" label={t('field.window')} />
        <NumberEntry form={form} name="max_output_tokens" label={t('field.output')} />
        <NumberEntry form={form} name="input_token_price_per_million_usd" label={t('field.priceIn')} />
        <NumberEntry form={form} name="output_token_price_per_million_usd" label={t('field.priceOut')} />
        <TextEntry
          form={form}
          name="knowledge_cutoff"
          label={t('field.cutoff')}
          hint={t('field.cutoff.hint')}
        />
      </div>
      <div className={css.two}>
        <Kinds form={form} direction="input" label={t('field.input')} />
        <Kinds form={form} direction="output" label={t('field.output.kinds')} />
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
