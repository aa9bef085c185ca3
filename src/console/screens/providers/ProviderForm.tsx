import { useRef } from 'react';
import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { Ago } from '../../design/Time.tsx';
import { EntryDrawer } from '../../entry/EntryDrawer.tsx';
import { type Opened, objectOf, textOf } from '../../entry/entry.ts';
import { IdEntry, JsonEntry, NumberEntry, PairsField, SelectEntry, TextEntry } from '../../entry/fields.tsx';
import { SecretField } from '../../entry/SecretField.tsx';
import { type EntryForm, useEntry } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { AdapterOptions } from './AdapterOptions.tsx';
import css from './Providers.module.css';
import {
  bodyOf,
  check,
  defaultOf,
  FIELDS,
  fieldOptions,
  headersOf,
  isAccount,
  isVertex,
  otherOptions,
  PROVIDER,
  USUAL_ADAPTERS,
  withOptions,
} from './provider.ts';
import { TestText } from './TestText.tsx';
import { runTest, tests, underTest } from './tests.ts';
import { texts } from './texts.ts';

const Credentials = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const { draft, set } = form;
  const kind = textOf(objectOf(draft.adapter_options).credentials_kind) || 'bearer';
  return (
    <Field label={t('field.credentials')}>
      {(control) => (
        <select
          {...control}
          value={kind}
          onChange={({ target }) =>
            set(
              withOptions(draft, { credentials_kind: target.value === 'bearer' ? undefined : target.value }),
            )
          }
        >
          <option value="bearer">{t('credentials.bearer')}</option>
          <option value="service_account_json">{t('credentials.service_account_json')}</option>
        </select>
      )}
    </Field>
  );
};

/** Options without a field, as JSON. `fields`: those that the adapter has one for. */
const OtherOptions = ({ form, fields }: { form: EntryForm; fields: readonly string[] }) => {
  const t = useTexts(texts);
  const { draft } = form;
  const isText = typeof draft.adapter_options === 'string';
  const inner: EntryForm = {
    ...form,
    draft: { id: draft.id, adapter_options: isText ? draft.adapter_options : otherOptions(draft, fields) },
    set: ({ adapter_options: typed }) => {
      if (typeof typed === 'string') return form.set({ adapter_options: typed });
      form.set(withOptions({}, { ...objectOf(typed), ...fieldOptions(draft, fields) }));
    },
  };
  return <JsonEntry form={inner} name="adapter_options" label={t('field.options')} />;
};

const History = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const all = useAtom(tests).get(id) ?? [];
  if (all.length === 0) return null;
  return (
    <section className={css.box} aria-label={t('test.history')}>
      <h3>{t('test.history')}</h3>
      <ul className={css.history} role="status">
        {all.map((tested) => (
          <li key={tested.at}>
            <TestText tested={tested} isLong />
            <span className={css.quiet}>
              <Ago at={tested.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

export const ProviderForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const known = useResource(capabilities).data;
  /** What is stored now is tested next, and the form stays. */
  const wantsTest = useRef(false);
  const rules = { ...PROVIDER, check, bodyOf, fields: FIELDS };
  const form = useEntry(opened, rules, (id) => {
    if (wantsTest.current) void runTest(id);
    else onClose();
  });
  const { draft, errors } = form;
  const { id } = draft;
  const adapter = textOf(draft.adapter);
  const usual = known && defaultOf(known.adapter_defaults, adapter);
  const options = usual?.options ?? [];
  const adapters = known?.supported_adapters.length ? known.supported_adapters : USUAL_ADAPTERS;
  const isBusy = useAtom(underTest).has(id);
  const saveAndTest = async (): Promise<void> => {
    wantsTest.current = true;
    await form.save();
    wantsTest.current = false;
  };
  const isStored = !form.opened.isNew;
  return (
    <EntryDrawer
      title={t(isStored ? 'edit.title' : 'new')}
      form={form}
      onClose={onClose}
      actions={
        isStored && (
          <>
            <Button
              disabled={form.isDirty || isBusy}
              title={form.isDirty ? t('test.afterSave') : undefined}
              onClick={() => void runTest(id)}
            >
              {t(isBusy ? 'test.busy' : 'test.button')}
            </Button>
            {form.isDirty && (
              <Button disabled={form.busy} onClick={() => void saveAndTest()}>
                {t('test.saveAndTest')}
              </Button>
            )}
          </>
        )
      }
    >
      <div className={css.two}>
        <IdEntry form={form} label={t('field.id')} />
        <SelectEntry
          form={form}
          name="adapter"
          label={t('field.adapter')}
          required
          options={[
            ...(adapter === '' ? [['', t('field.adapter.choose')] as const] : []),
            ...adapters.map((name) => [name, name] as const),
          ]}
        />
      </div>
      {usual?.docs_url !== undefined && (
        <a href={usual.docs_url} target="_blank" rel="noreferrer noopener" className={css.quiet}>
          {t('field.adapter.docs', { adapter })}
        </a>
      )}
      <SecretField
        title={id === '' ? t('field.key.new') : t('field.key', { id })}
        isStored={opened.start.has_api_key === true}
        value={typeof draft.api_key === 'string' ? draft.api_key : undefined}
        onChange={(value) => form.set({ api_key: value })}
        error={errors.get('api_key')}
        isLong={isAccount(draft)}
      />
      {isVertex(draft) && <Credentials form={form} />}
      <AdapterOptions form={form} options={options} />
      <div className={css.two}>
        <TextEntry
          form={form}
          name="base_url"
          label={t('field.url')}
          type="url"
          placeholder={usual?.base_url ?? 'https://'}
          hint={t('field.url.hint')}
        />
        <NumberEntry form={form} name="timeout_secs" label={t('field.timeout')} placeholder="300" />
      </div>
      <PairsField
        label={t('field.headers')}
        value={headersOf(draft)}
        isSecret
        onChange={(headers) => form.set(withOptions(draft, { headers }))}
      />
      <OtherOptions form={form} fields={options.map(({ name }) => name)} />
      {isStored && <History id={id} />}
    </EntryDrawer>
  );
};
