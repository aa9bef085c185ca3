import type { JsonObject } from '../../../data/guard.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { MODEL_UI, useModelWords } from '../../../model-settings/model-fields.ts';
import type { Words } from '../../../schema-form/context.ts';
import { changesIn, wordsFrom } from '../../../schema-form/hints.ts';
import { SchemaForm, type SchemaFormProps } from '../../../schema-form/SchemaForm.tsx';
import { useAgent } from '../agent-form.ts';
import { setFields } from '../draft.ts';
import { Resettable } from '../Resettable.tsx';
import { Backend } from './Backend.tsx';
import { ModelField } from './ModelField.tsx';
import { Prompt } from './Prompt.tsx';
import texts from './texts.json' with { type: 'json' };

/** Some fields of an agent, as the schema of the service describes them. */

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
};

const FIXED_ID = { ...UI, id: { 'ui:readonly': true } };

const WIDGETS = { prompt: Prompt, model: ModelField, backend: Backend };

/** The texts of the fields of agents. */
export const useAgentWords = (): Words => {
  const model = useModelWords();
  const own = wordsFrom(useTexts(texts), texts, (place) => `field.${place}`);
  return (place) => own(place) ?? model(place);
};

const trimmed = (fields: JsonObject): JsonObject =>
  'id' in fields ? { ...fields, id: String(fields.id ?? '').trim() } : fields;

export const AgentFields = (props: { label: string; fields: NonNullable<SchemaFormProps['fields']> }) => {
  const { form, schema } = useAgent();
  const { opened, draft, set, errors, unread, onUnread } = form;
  const { isNew } = opened;
  const words = useAgentWords();
  const value = setFields(draft);
  return (
    <SchemaForm
      label={props.label}
      schema={schema}
      value={value}
      fields={props.fields}
      ui={isNew ? UI : FIXED_ID}
      words={(place) => (place === 'id.help' && isNew ? undefined : words(place))}
      widgets={WIDGETS}
      wrap={(field, content) => <Resettable field={field}>{content}</Resettable>}
      errors={errors}
      unread={unread}
      onUnread={onUnread}
      onChange={(next) => set(trimmed(changesIn(value, next)))}
    />
  );
};
