import { lazy } from 'react';
import { isObject, type JsonObject } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { idsOf } from '../../../data/records.ts';
import { Field } from '../../../design/Field.tsx';
import { SelectField } from '../../../design/Inputs.tsx';
import { EntryPart, type FieldsDescriptor } from '../../../entry/EntryFields.tsx';
import { objectOf } from '../../../entry/entry.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { MODEL_UI } from '../../../model-settings/model-fields.ts';
import settingTexts from '../../../model-settings/texts.json' with { type: 'json' };
import { ScreenLink } from '../../../navigation/links.tsx';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import { useAgent } from '../agent-form.ts';
import { setFields } from '../draft.ts';
import { Resettable } from '../Resettable.tsx';
import { Prompt } from './Prompt.tsx';
import texts from './texts.json' with { type: 'json' };

/** How the fields of an agent are edited, in addition to the schema of the service. */

/** Selects a model or a pool. A stored id that no longer exists stays selected and is reported as missing. */
const ModelField = ({ label, path, value: chosen, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const { errors } = useForm();
  const pools = useResource(idsOf('model-pools'));
  const { models } = useAgent().capabilities;
  const value = typeof chosen === 'string' ? chosen : '';
  const isKnown = models.some(({ id }) => id === value) || pools.data?.includes(value);
  const isGone = value !== '' && !isKnown && !pools.isPending;
  const error = errors.get(path) ?? (isGone ? t('model.gone', { id: value }) : undefined);
  return (
    <Field label={label} error={error} required>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{t('model.choose')}</option>
          {value !== '' && !isKnown && (
            <option value={value}>{isGone ? t('model.option.gone', { id: value }) : value}</option>
          )}
          <optgroup label={t('models')}>
            {models.map(({ id, provider_id, upstream_model }) => (
              <option key={id} value={id}>
                {id} — {provider_id} · {upstream_model}
              </option>
            ))}
          </optgroup>
          {pools.data && pools.data.length > 0 && (
            <optgroup label={t('pools')}>
              {pools.data.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      )}
    </Field>
  );
};

/** Selects where the agent runs. Another backend starts with its default configuration. */
const Backend = ({ label, value, onChange }: SeenProps) => {
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
  const { draft, set, errors } = form;
  const backend = objectOf(draft.backend);
  const known = capabilities.backends.find(({ kind }) => kind === backend.kind);
  const refused = errors.get('backend');
  return (
    <EntryPart
      label={t('endpoint.json')}
      schema={known?.schema ?? {}}
      ui={{ ...known?.ui_schema, ...TOKEN }}
      value={objectOf(backend.config)}
      path={PATH}
      {...(refused !== undefined && { errors: new Map([...errors, [PATH, refused]]) })}
      onChange={(config) => set({ backend: { version: 1, ...backend, config }, endpoint: undefined })}
    />
  );
};

const LINES = { 'ui:widget': 'lines' };
const HIDDEN = { 'ui:widget': 'hidden' };

const UI: JsonObject = {
  ...MODEL_UI,
  system_prompt: { 'ui:widget': 'prompt' },
  model_id: { 'ui:widget': 'model' },
  backend: { 'ui:widget': 'backend' },
  max_rounds: { 'ui:required': true },
  max_continuation_retries: { 'ui:required': true },
  stop_conditions: {
    items: {
      'ui:start': {
        max_rounds: { rounds: 5 },
        timeout: { seconds: 60 },
        token_budget: { max_total: 20_000 },
        consecutive_errors: { max: 3 },
        loop_detection: { window: 4 },
      },
    },
  },
  provider_tools: {
    items: {
      allowed_domains: LINES,
      blocked_domains: LINES,
      file_ids: LINES,
      store_ids: LINES,
      user_location: HIDDEN,
      context_size: HIDDEN,
      max_content_tokens: HIDDEN,
    },
  },
  context_policy: {
    'ui:widget': 'optional',
    'ui:start': {
      max_context_tokens: 200_000,
      max_output_tokens: 16_384,
      min_recent_messages: 10,
      enable_prompt_cache: true,
      compaction_mode: 'keep_recent_raw_suffix',
      compaction_raw_suffix_messages: 2,
    },
  },
  client_tools: LINES,
  allowed_tool_patterns: { 'ui:widget': 'patterns' },
  excluded_tool_patterns: { 'ui:widget': 'patterns' },
  plugin_ids: { 'ui:widget': 'plugins' },
  active_hook_filter: { 'ui:widget': 'hooks' },
  delegates: { 'ui:widget': 'delegates' },
};

/** The fields of agents. */
export const FIELDS: FieldsDescriptor = {
  texts: { ...settingTexts, ...texts },
  ui: UI,
  widgets: {
    prompt: Prompt,
    model: ModelField,
    backend: Backend,
    patterns: lazy(() => import('../tools/Patterns.tsx')),
    plugins: lazy(() => import('../plugins/Plugins.tsx')),
    hooks: lazy(() => import('../plugins/HookFilter.tsx')),
    delegates: lazy(() => import('../references/Delegates.tsx')),
  },
  shownOf: setFields,
  wrap: (field, content) => <Resettable field={field}>{content}</Resettable>,
};
