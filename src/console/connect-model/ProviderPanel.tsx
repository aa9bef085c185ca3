import { useEffect, useMemo, useRef, useState } from 'react';
import type { JsonObject } from '../data/guard.ts';
import { Button } from '../design/Button.tsx';
import { isWebAddress, textOf } from '../entry/entry.ts';
import { SecretField } from '../entry/SecretField.tsx';
import entryTexts from '../entry/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import type { SeenProps, Widgets } from '../schema-form/context.ts';
import { SchemaForm } from '../schema-form/SchemaForm.tsx';
import { type Adapter, ANY_SERVER } from './adapters.ts';
import css from './ConnectModel.module.css';
import type { Item } from './connect.ts';
import { KeyLink } from './KeyLink.tsx';
import { ModelChoice, useConnecting } from './ModelChoice.tsx';
import { TestText } from './TestText.tsx';
import texts from './texts.json' with { type: 'json' };
import { type Candidate, usePreview } from './use-preview.ts';

/** The provider that the fields describe; undefined while a required one is missing. */
const candidateOf = (adapter: Adapter, key: string, url: string): Candidate | undefined => {
  if (url === '' ? adapter.id === ANY_SERVER : !isWebAddress(url)) return undefined;
  if (key === '' && !adapter.key_optional) return undefined;
  return {
    adapter: adapter.id,
    ...(adapter.lists_models_on_request && { adapter_options: { model_discovery_schema: 'openai' } }),
    ...(key !== '' && { api_key: key }),
    ...(url !== '' && { base_url: url }),
  };
};

const Key = ({ label, value, onChange }: SeenProps) => (
  <SecretField title={label} isStored={false} value={textOf(value)} onChange={onChange} />
);

const WIDGETS: Widgets = { key: Key };

const useFields = (adapter: Adapter) => {
  const t = useTexts(texts);
  const placeholder = adapter.base_url ?? 'https://';
  return {
    schema: {
      type: 'object',
      properties: { base_url: { type: 'string', format: 'uri' }, api_key: { type: 'string' } },
      required: adapter.id === ANY_SERVER ? ['base_url'] : [],
    },
    ui: {
      base_url: { 'ui:title': t('field.url'), 'ui:placeholder': placeholder },
      api_key: {
        'ui:title': t(adapter.key_optional ? 'field.key.optional' : 'field.key', { name: adapter.name }),
        'ui:widget': 'key',
      },
    },
    fields: adapter.key_optional
      ? ['base_url', 'api_key']
      : ['api_key', { title: t('field.url'), fields: ['base_url'], isClosed: true }],
  };
};

/** Moves the focus to the first visible field when the panel appears. */
const useFirstField = () => {
  const panel = useRef<HTMLFieldSetElement>(null);
  useEffect(() => panel.current?.querySelector<HTMLElement>('input:not(details input)')?.focus(), []);
  return panel;
};

/** The key and the address of a provider, the result of its test, and its models. */
const ProviderPanel = (props: {
  adapter: Adapter;
  onBack: () => void;
  onConnected: (created: readonly Item[]) => void;
}) => {
  const t = useTexts(texts);
  const problem = useTexts(entryTexts);
  const { adapter } = props;
  const [draft, setDraft] = useState<JsonObject>({});
  const [url, setUrl] = useState('');
  const key = textOf(draft.api_key).trim();
  const typed = textOf(draft.base_url).trim();
  const connecting = useConnecting();
  const { isBusy, created } = connecting.attempt;
  // The key is sent to this address, so a part of an address is never used: blur and Enter commit it.
  const commit = (): void => setUrl(typed);
  const candidate = useMemo(
    () => (typed === url ? candidateOf(adapter, key, url) : undefined),
    [adapter, key, url, typed],
  );
  const { result, isTesting, again } = usePreview(candidate);
  const panel = useFirstField();
  const isBad = typed !== '' && !isWebAddress(typed);
  return (
    <>
      <div className="row">
        <h3 className={css.name}>{adapter.name}</h3>
        <KeyLink adapter={adapter} />
        <Button small tone="quiet" disabled={isBusy} onClick={props.onBack}>
          {t('back')}
        </Button>
      </div>
      {/* A provider that is stored, or is being stored, is not changed here. */}
      <fieldset
        className={`stack narrow ${css.plain}`}
        ref={panel}
        disabled={isBusy || created.length > 0}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      >
        <SchemaForm
          {...useFields(adapter)}
          label={adapter.name}
          value={draft}
          onChange={setDraft}
          widgets={WIDGETS}
          errors={new Map(isBad ? [['base_url', problem('problem.url')]] : [])}
        />
        <p className="quiet">{t('field.key.hint')}</p>
      </fieldset>
      <div className="row" role="status">
        {isTesting && <span className="quiet">{t('testing')}</span>}
        {result && <TestText tested={result} isLong hasKey={key !== ''} />}
        {result?.ok && result.network_tested && (
          <span className="quiet">
            {result.models_from === 'provider'
              ? t('ok.models', { count: result.models.length })
              : t('ok.noList')}
          </span>
        )}
        {result && !result.ok && (
          <Button small onClick={again}>
            {t('again')}
          </Button>
        )}
      </div>
      {candidate && result?.ok && (
        <ModelChoice
          adapter={adapter}
          candidate={candidate}
          models={result.models}
          connecting={connecting}
          onConnected={props.onConnected}
        />
      )}
    </>
  );
};

export default ProviderPanel;
