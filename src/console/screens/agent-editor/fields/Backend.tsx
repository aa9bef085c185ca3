import { useMemo } from 'react';
import { isObject } from '../../../data/guard.ts';
import { SelectField } from '../../../design/Inputs.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { ScreenLink } from '../../../navigation/links.tsx';
import type { SeenProps } from '../../../schema-form/context.ts';
import { wordsFrom } from '../../../schema-form/hints.ts';
import { SchemaForm } from '../../../schema-form/SchemaForm.tsx';
import { useAgent } from '../agent-form.ts';
import texts from './texts.json' with { type: 'json' };

/** Selects where the agent runs. Another backend starts with its default configuration. */
export const Backend = ({ label, value, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const { capabilities, localKind } = useAgent();
  const { backends } = capabilities;
  const kind = isObject(value) && typeof value.kind === 'string' ? value.kind : localKind;
  const choose = (wanted: string): void => {
    const known = backends.find((backend) => backend.kind === wanted);
    if (known) onChange({ kind: wanted, version: known.version, config: known.default_config });
  };
  const hint = (
    <>
      {t('backend.discovered')} <ScreenLink to="/a2a-servers">{t('backend.servers')}</ScreenLink>
    </>
  );
  return (
    <SelectField
      label={label}
      hint={kind === localKind ? undefined : hint}
      value={kind}
      options={backends.map((one) => [one.kind, one.display_name || one.kind])}
      onChange={choose}
    />
  );
};

const PATH = 'backend.config';
const TOKEN = { auth: { token: { 'ui:widget': 'password', 'ui:required': false } } };

/** Connection settings of a remote agent. A stored token is never shown; a typed one replaces it. */
export const BackendConfig = () => {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { draft, set, errors, unread, onUnread } = form;
  const backend = isObject(draft.backend) ? draft.backend : {};
  const known = capabilities.backends.find(({ kind }) => kind === backend.kind);
  const refused = errors.get('backend');
  const all = useMemo(
    () => (refused === undefined ? errors : new Map([...errors, [PATH, refused]])),
    [errors, refused],
  );
  return (
    <SchemaForm
      label={t('endpoint.json')}
      schema={known?.schema ?? {}}
      ui={{ ...known?.ui_schema, ...TOKEN }}
      words={wordsFrom(t, texts, (place) => `field.backend.config.${place}`)}
      value={isObject(backend.config) ? backend.config : {}}
      path={PATH}
      errors={all}
      unread={unread}
      onUnread={onUnread}
      onChange={(config) => set({ backend: { version: 1, ...backend, config }, endpoint: undefined })}
    />
  );
};
