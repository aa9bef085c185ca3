import { isObject } from '../../../data/guard.ts';
import { sectionsOf } from '../../../data/spec.ts';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { MODEL_FIELDS } from '../../../model-settings/model-fields.ts';
import settingTexts from '../../../model-settings/texts.json' with { type: 'json' };
import { SchemaForm } from '../../../schema-form/SchemaForm.tsx';
import { useAgent } from '../agent-form.ts';
import { isLocal, withSection } from '../draft.ts';
import { COMPACTION, FIRST_COMPACTION } from '../problems.ts';
import { AgentFields, useAgentWords } from './AgentFields.tsx';
import { RawJson } from './RawJson.tsx';
import texts from './texts.json' with { type: 'json' };

/** Settings of model calls, the context policy, and the whole agent as JSON. */

const SECTIONS = { type: 'object', properties: { compaction: COMPACTION } };
const LONG = { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } };
const UI = {
  compaction: {
    'ui:widget': 'optional',
    'ui:start': FIRST_COMPACTION,
    mode: { 'ui:widget': 'buttons' },
    summarizer_system_prompt: LONG,
    summarizer_user_prompt: LONG,
  },
};

/** Without the section, the defaults of the service apply. */
const Compaction = () => {
  const t = useTexts(texts);
  const { draft, set, errors } = useAgent().form;
  const { compaction } = sectionsOf(draft);
  return (
    <SchemaForm
      label={t('compaction')}
      schema={SECTIONS}
      ui={UI}
      words={useAgentWords()}
      value={{ compaction }}
      fields={['compaction']}
      path="sections"
      errors={errors}
      onChange={(next) =>
        set(withSection(draft, 'compaction', isObject(next.compaction) ? next.compaction : undefined))
      }
    />
  );
};

export default function Advanced() {
  const t = useTexts(texts);
  const settings = useTexts(settingTexts);
  const { form, localKind } = useAgent();
  const { draft } = form;
  return (
    <>
      {isLocal(draft, localKind) && (
        <Card title={settings('title')} note={settings('intro')}>
          <AgentFields label={settings('title')} fields={MODEL_FIELDS} />
        </Card>
      )}
      <Card title={t('policy')}>
        <AgentFields label={t('policy')} fields={['context_policy']} />
      </Card>
      <Card title={t('compaction')}>
        <Compaction />
      </Card>
      <Card title={t('clients')}>
        <AgentFields
          label={t('clients')}
          fields={['output_schema', 'output_options', 'client_tools', 'client_system_messages']}
        />
      </Card>
      {isObject(draft.endpoint) && (
        <Card title={t('endpoint')}>
          <Json value={{ endpoint: draft.endpoint }} label={t('endpoint')} />
        </Card>
      )}
      <RawJson />
    </>
  );
}
