import { isObject } from '../../../data/guard.ts';
import { sectionsOf } from '../../../data/spec.ts';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EntryFields, EntryPart, useEntryForm } from '../../../entry/EntryFields.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { MODEL_FIELDS } from '../../../model-settings/model-fields.ts';
import settingTexts from '../../../model-settings/texts.json' with { type: 'json' };
import { useAgent } from '../agent-form.ts';
import { isLocal, withSection } from '../draft.ts';
import { COMPACTION, FIRST_COMPACTION } from '../problems.ts';
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
  const { draft, set } = useEntryForm();
  const { compaction } = sectionsOf(draft);
  return (
    <EntryPart
      label={t('compaction')}
      schema={SECTIONS}
      ui={UI}
      value={{ compaction }}
      fields={['compaction']}
      path="sections"
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
          <EntryFields fields={MODEL_FIELDS} />
        </Card>
      )}
      <Card title={t('policy')}>
        <EntryFields fields={['context_policy']} />
      </Card>
      <Card title={t('compaction')}>
        <Compaction />
      </Card>
      <Card title={t('clients')}>
        <EntryFields fields={['output_schema', 'output_options', 'client_tools', 'client_system_messages']} />
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
