import { useMemo } from 'react';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { Ago } from '../../design/Time.tsx';
import css from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { objectOf, textOf } from '../../entry/entry.ts';
import { PairsField } from '../../entry/PairsField.tsx';
import { SecretField } from '../../entry/SecretField.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { SeenProps } from '../../schema-form/context.ts';
import { JsonBox } from '../../schema-form/JsonBox.tsx';
import { Node } from '../../schema-form/Node.tsx';
import {
  type AdapterDefault,
  check,
  defaultOf,
  divided,
  headersOf,
  isAccount,
  optionSchema,
  optionsOf,
  USUAL_ADAPTERS,
} from './provider.ts';
import { TestText } from './TestText.tsx';
import { runTest, tests, underTest } from './tests.ts';
import { texts } from './texts.ts';

const NO_DEFAULTS: JsonObject = {};

const useAdapter = (): AdapterDefault => {
  const { draft } = useEntryForm();
  const defaults = useResource(capabilities).data?.adapter_defaults ?? NO_DEFAULTS;
  const adapter = textOf(draft.adapter);
  return useMemo(() => defaultOf(defaults, adapter), [defaults, adapter]);
};

/** The adapter, with a link to its documentation. */
const Adapter = (props: SeenProps) => {
  const t = useTexts(texts);
  const { docs_url: page } = useAdapter();
  return (
    <div>
      <Node {...props} ui={{}} />
      {page !== undefined && (
        <a href={page} target="_blank" rel="noreferrer noopener">
          {t('docs')}
        </a>
      )}
    </div>
  );
};

const Key = ({ label, value, onChange }: SeenProps) => {
  const form = useEntryForm();
  return (
    <SecretField
      title={label}
      isStored={form.opened.start.has_api_key === true}
      value={typeof value === 'string' ? value : undefined}
      onChange={onChange}
      error={form.errors.get('api_key')}
      isLong={isAccount(form.draft)}
    />
  );
};

/** The options of the adapter, headers, and all other options as JSON. */
const Options = ({ path, value, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const { draft } = useEntryForm();
  const adapter = useAdapter();
  const schema = optionSchema(textOf(draft.adapter), adapter);
  const { known, others } = divided(value, schema);
  const put = (fields: JsonObject): void =>
    onChange(optionsOf({ headers: objectOf(value).headers, ...others, ...known, ...fields }));
  const cleared = Object.fromEntries(Object.keys(known).map((name) => [name, undefined]));
  return (
    <>
      {Object.keys(objectOf(schema.properties)).length > 0 && (
        <Node
          schema={schema}
          ui={{}}
          label={t('options')}
          path={path}
          value={known}
          isRequired
          onChange={(next) => put({ ...cleared, ...objectOf(next) })}
        />
      )}
      <fieldset className={css.box}>
        <legend>{t('headers')}</legend>
        <PairsField value={headersOf(objectOf(value))} onChange={(headers) => put({ headers })} />
      </fieldset>
      <JsonBox
        label={t('options.others')}
        path={path}
        value={Object.keys(others).length > 0 ? others : undefined}
        asObject="optional"
        onChange={(next) =>
          onChange(
            optionsOf({
              ...known,
              headers: objectOf(value).headers,
              ...(isObject(next) ? next : {}),
            }),
          )
        }
      />
    </>
  );
};

const History = () => {
  const t = useTexts(texts);
  const { start } = useEntryForm().opened;
  const all = useAtom(tests).get(start.id) ?? [];
  if (all.length === 0) return null;
  return (
    <section className={css.box} aria-label={t('test.history')}>
      <h3>{t('test.history')}</h3>
      <ul className={css.list} role="status">
        {all.map((tested) => (
          <li key={tested.at} className={css.row}>
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

/** Tests the stored provider; unsaved changes are saved first. */
const TestActions = () => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const { id } = form.opened.start;
  const isBusy = useAtom(underTest).has(id);
  if (form.opened.isNew) return null;
  const test = async (): Promise<void> => {
    if (!form.isDirty || (await form.save())) await runTest(id);
  };
  return (
    <Button disabled={isBusy || form.busy} onClick={() => void test()}>
      {t(isBusy ? 'test.busy' : form.isDirty ? 'test.saveAndTest' : 'test.button')}
    </Button>
  );
};

export const PROVIDER: EntryDescriptor = {
  namespace: 'providers',
  entity: 'entity.provider',
  texts,
  start: { id: '', adapter: '' },
  fields: () => ['id', 'adapter', 'api_key', 'base_url', 'timeout_secs', 'adapter_options'],
  ui: {
    adapter: { 'ui:widget': 'adapter' },
    api_key: { 'ui:widget': 'key' },
    adapter_options: { 'ui:widget': 'options' },
  },
  widgets: { adapter: Adapter, key: Key, options: Options },
  useSchema: ({ draft }) => {
    const known = useResource(capabilities).data;
    const adapter = textOf(draft.adapter);
    return useMemo(() => {
      const adapters = known?.supported_adapters.length ? known.supported_adapters : USUAL_ADAPTERS;
      const stored = adapter === '' || adapters.includes(adapter) ? [] : [adapter];
      const { base_url } = defaultOf(known?.adapter_defaults ?? NO_DEFAULTS, adapter);
      return {
        adapter: { enum: [...adapters, ...stored] },
        base_url: { default: base_url ?? 'https://' },
        timeout_secs: { default: 300 },
      };
    }, [known, adapter]);
  },
  check,
  After: History,
  Actions: TestActions,
};
