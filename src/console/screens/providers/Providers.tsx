import { useMemo } from 'react';
import { type Adapter, adapterOf } from '../../connect-model/adapters.ts';
import { ConnectButton, ConnectDialog } from '../../connect-model/ConnectDialog.tsx';
import { KeyLink } from '../../connect-model/KeyLink.tsx';
import { TestText } from '../../connect-model/TestText.tsx';
import type { JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { idsOf } from '../../data/records.ts';
import { capabilities } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import css from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { objectOf, textOf } from '../../entry/entry.ts';
import { PairsField, SecretField } from '../../entry/SecretField.tsx';
import { useEntries } from '../../entry/use-entries.ts';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { SeenProps } from '../../schema-form/context.ts';
import { JsonBox } from '../../schema-form/JsonBox.tsx';
import { Node } from '../../schema-form/Node.tsx';
import {
  check,
  divided,
  isAccount,
  optionSchema,
  optionsOf,
  PROVIDERS,
  type Provider,
  USUAL_ADAPTERS,
} from './provider.ts';
import { runTest, tests, underTest } from './tests.ts';
import texts from './texts.json' with { type: 'json' };

const NO_DEFAULTS: JsonObject = {};

const useAdapter = ({ draft }: EntryForm): Adapter => {
  const defaults = useResource(capabilities).data?.adapter_defaults ?? NO_DEFAULTS;
  const adapter = textOf(draft.adapter);
  return useMemo(() => adapterOf(defaults, adapter), [defaults, adapter]);
};

/** The adapter, with a link to its keys or documentation. */
const AdapterField = (props: SeenProps) => (
  <div>
    <Node {...props} ui={{}} />
    <KeyLink adapter={useAdapter(useEntryForm())} />
  </div>
);

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

const Headers = ({ label, value, onChange }: SeenProps) => (
  <fieldset className={css.box}>
    <legend>{label}</legend>
    <PairsField
      value={Object.fromEntries(Object.entries(objectOf(value)).map(([name, each]) => [name, String(each)]))}
      onChange={onChange}
    />
  </fieldset>
);

/** The options of the adapter, and all others as JSON. */
const Options = ({ path, value, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const schema = optionSchema(useAdapter(useEntryForm()));
  const { known, others } = divided(value, schema);
  const put = (one: JsonObject, other: JsonObject): void => onChange(optionsOf({ ...one, ...other }));
  return (
    <>
      <Node
        schema={schema}
        ui={{ headers: { 'ui:widget': 'headers' } }}
        label={t('options')}
        path={path}
        value={known}
        isRequired
        onChange={(next) => put(others, objectOf(next))}
      />
      <JsonBox
        label={t('options.others')}
        path={path}
        value={Object.keys(others).length > 0 ? others : undefined}
        asObject="optional"
        onChange={(next) => put(known, objectOf(next))}
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
      <ul className="stack" role="status">
        {all.map((tested) => (
          <li key={tested.at} className="row">
            <TestText tested={tested} isLong />
            <span className="quiet">
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

const PROVIDER: EntryDescriptor = {
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
  widgets: { adapter: AdapterField, key: Key, options: Options, headers: Headers },
  useSchema: (form) => {
    const supported = useResource(capabilities).data?.supported_adapters;
    const { id, base_url } = useAdapter(form);
    return useMemo(() => {
      const adapters = supported?.length ? supported : USUAL_ADAPTERS;
      return {
        adapter: { enum: id === '' || adapters.includes(id) ? adapters : [...adapters, id] },
        base_url: { default: base_url ?? 'https://' },
        timeout_secs: { default: 300 },
      };
    }, [supported, id, base_url]);
  },
  check,
  After: History,
  Actions: TestActions,
};

const LastTest = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const [newest] = useAtom(tests).get(id) ?? [];
  const isBusy = useAtom(underTest).has(id);
  if (newest && !isBusy) return <TestText tested={newest} />;
  return <span className="quiet">{t(isBusy ? 'test.busy' : 'test.never')}</span>;
};

const TestButton = ({ id }: Provider) => {
  const t = useTexts(texts);
  const isBusy = useAtom(underTest).has(id);
  return (
    <Button small aria-label={t('test', { id })} disabled={isBusy} onClick={() => void runTest(id)}>
      {t('test.short')}
    </Button>
  );
};

const columnsOf: ColumnsOf<Provider, keyof typeof texts> = (t) => [
  { id: 'adapter', label: t('field.adapter'), value: (row) => row.adapter },
  { id: 'url', label: t('field.base_url'), value: (row) => row.base_url ?? t('url.usual'), shortened: true },
  { id: 'key', label: t('field.api_key'), value: (row) => t(row.has_api_key ? 'key.stored' : 'key.none') },
  { id: 'test', drawn: ({ id }) => <LastTest id={id} /> },
];

/** Without a model, no agent can use the providers. */
const NextStep = () => {
  const t = useTexts(texts);
  return (
    <Notice
      title={t('setup.title')}
      actions={
        <ScreenLink to="/models?new=1" className={buttonLook}>
          {t('setup.toModels')}
        </ScreenLink>
      }
    >
      {t('setup.models')}
    </Notice>
  );
};

export default function Providers() {
  const entries = useEntries(PROVIDERS);
  const models = useResource(idsOf('models')).data;
  const [{ adapter }] = useQueryState();
  const [id = ''] = adapter?.split('_', 1) ?? [];
  return (
    <EntryScreen
      kind={PROVIDER}
      texts={texts}
      entries={entries}
      columns={columnsOf}
      primary={<ConnectButton />}
      first={<ConnectButton />}
      // The address may name the adapter of a new provider.
      start={adapter === undefined ? undefined : { id, adapter }}
      rowActions={(row) => <TestButton {...row} />}
      dialogs={{ connect: ConnectDialog }}
    >
      {entries.rows.length > 0 && models?.length === 0 && <NextStep />}
    </EntryScreen>
  );
}
