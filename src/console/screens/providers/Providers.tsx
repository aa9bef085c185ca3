import { ConnectButton, ConnectDialog } from '../../connect-model/ConnectDialog.tsx';
import { TestText } from '../../connect-model/TestText.tsx';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { useAtom } from '../../data/use-atom.ts';
import { buttonLook, IconButton } from '../../design/Button.tsx';
import { Notice } from '../../design/Notice.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { PROVIDERS, type Provider } from './provider.ts';
import { PROVIDER } from './provider-form.tsx';
import { runTest, tests, underTest } from './tests.ts';
import texts from './texts.json' with { type: 'json' };

const MODELS = recordsOf('models', NamedRecord);

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
    <IconButton
      small
      icon="diagnostics"
      label={t('test', { id })}
      disabled={isBusy}
      onClick={() => void runTest(id)}
    />
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
  const query = useResource(PROVIDERS);
  const models = useResource(MODELS).data;
  const [{ adapter }] = useQueryState();
  const [id = ''] = adapter?.split('_', 1) ?? [];
  const rows = query.data ?? [];
  return (
    <EntryScreen
      kind={PROVIDER}
      texts={texts}
      query={query}
      off={PROVIDERS.off}
      rows={rows}
      columns={columnsOf}
      primary={<ConnectButton />}
      first={<ConnectButton />}
      // The address may name the adapter of a new provider.
      start={adapter === undefined ? undefined : { id, adapter }}
      rowActions={(row) => <TestButton {...row} />}
    >
      {rows.length > 0 && models?.length === 0 && <NextStep />}
      <ConnectDialog />
    </EntryScreen>
  );
}
