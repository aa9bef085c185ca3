import { useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Field } from '../design/Field.tsx';
import shared from '../entry/Entry.module.css';
import { isWebAddress } from '../entry/entry.ts';
import { SecretField } from '../entry/SecretField.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type Adapter, ANY_SERVER, listOptions } from './adapters.ts';
import type { ConnectedModel } from './Connected.tsx';
import css from './ConnectModel.module.css';
import { ModelChoice } from './ModelChoice.tsx';
import { TestStatus } from './TestStatus.tsx';
import { texts } from './texts.ts';
import { useConnecting } from './use-connecting.ts';
import { type Candidate, usePreview } from './use-preview.ts';

/** The provider that the fields describe; undefined while a required one is missing. */
const candidateOf = (adapter: Adapter, key: string, url: string): Candidate | undefined => {
  const needsUrl = adapter.id === ANY_SERVER;
  if (url === '' ? needsUrl : !isWebAddress(url)) return undefined;
  if (key === '' && !adapter.key_optional) return undefined;
  return {
    adapter: adapter.id,
    ...listOptions(adapter),
    ...(key !== '' && { api_key: key }),
    ...(url !== '' && { base_url: url }),
  };
};

/** The key is sent to this address, so a part of an address is never used: blur and Enter commit the draft. */
const AddressField = (props: {
  adapter: Adapter;
  draft: string;
  disabled: boolean;
  onChange: (draft: string) => void;
  onCommit: () => void;
}) => {
  const t = useTexts(texts);
  const { adapter, draft } = props;
  const isBad = draft !== '' && !isWebAddress(draft);
  return (
    <Field
      label={t('field.url')}
      required={adapter.id === ANY_SERVER}
      error={isBad ? t('problem.url') : undefined}
    >
      {(control) => (
        <input
          {...control}
          type="url"
          value={draft}
          disabled={props.disabled}
          placeholder={adapter.base_url ?? 'https://'}
          onChange={({ target }) => props.onChange(target.value.trim())}
          onBlur={props.onCommit}
          onKeyDown={({ key }) => key === 'Enter' && props.onCommit()}
        />
      )}
    </Field>
  );
};

const Head = (props: { adapter: Adapter; disabled: boolean; onBack: () => void }) => {
  const t = useTexts(texts);
  const { adapter } = props;
  const page = adapter.key_url ?? adapter.docs_url;
  return (
    <div className={shared.row}>
      <h3 className={css.name}>{adapter.name}</h3>
      {page !== undefined && (
        <a href={page} target="_blank" rel="noreferrer noopener">
          {t(adapter.key_url === undefined ? 'docs' : 'getKey')}
        </a>
      )}
      <Button small tone="quiet" disabled={props.disabled} onClick={props.onBack}>
        {t('back')}
      </Button>
    </div>
  );
};

/** Moves the focus to the first visible field when the panel appears. */
const useFirstField = () => {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.querySelector<HTMLElement>('input:not(details input)')?.focus(), []);
  return panel;
};

/** The key and the address of a provider, the result of its test, and its models. */
export const ProviderPanel = (props: {
  adapter: Adapter;
  onBack: () => void;
  onConnected: (model: ConnectedModel) => void;
}) => {
  const t = useTexts(texts);
  const { adapter } = props;
  const [key, setKey] = useState('');
  const [draft, setDraft] = useState('');
  const [url, setUrl] = useState('');
  const connecting = useConnecting();
  const { isBusy, created } = connecting.attempt;
  /** A provider that is stored, or is being stored, is not changed here. */
  const isFixed = isBusy || created.has('providers');
  const isTyping = draft !== url;
  const candidate = useMemo(
    () => (isTyping ? undefined : candidateOf(adapter, key.trim(), url)),
    [adapter, key, url, isTyping],
  );
  const { preview, again } = usePreview(candidate);
  const panel = useFirstField();
  const isOk = preview.kind === 'tested' && preview.result.ok;
  const address = (
    <AddressField
      adapter={adapter}
      draft={draft}
      disabled={isFixed}
      onChange={setDraft}
      onCommit={() => setUrl(draft)}
    />
  );
  return (
    <div className={css.panel} ref={panel}>
      <Head adapter={adapter} disabled={isBusy} onBack={props.onBack} />
      {adapter.key_optional ? (
        address
      ) : (
        <details className={css.advanced}>
          <summary>{t('field.url')}</summary>
          {address}
        </details>
      )}
      <fieldset className={css.plain} disabled={isFixed}>
        <SecretField
          title={t(adapter.key_optional ? 'field.key.optional' : 'field.key', { name: adapter.name })}
          isStored={false}
          value={key}
          onChange={(typed = '') => setKey(typed)}
        />
        <p className={shared.quiet}>{t('field.key.hint')}</p>
      </fieldset>
      <TestStatus preview={preview} hasKey={key !== ''} onAgain={again} />
      {candidate && isOk && (
        <ModelChoice
          adapter={adapter}
          candidate={candidate}
          models={preview.result.models}
          connecting={connecting}
          onConnected={props.onConnected}
        />
      )}
    </div>
  );
};
