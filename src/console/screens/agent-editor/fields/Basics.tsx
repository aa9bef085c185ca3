import { useTexts } from '../../../i18n/locale.ts';
import { useAgent } from '../agent-form.ts';
import { isLocal } from '../draft.ts';
import { AgentFields } from './AgentFields.tsx';
import { BackendConfig } from './Backend.tsx';
import { StartFrom } from './StartFrom.tsx';
import texts from './texts.json' with { type: 'json' };

/** The prompt, the identity, the model and the limits of an agent. */
export const Basics = () => {
  const t = useTexts(texts);
  const { form, capabilities, localKind } = useAgent();
  const local = isLocal(form.draft, localKind);
  const identity = ['id', ...(local ? ['model_id'] : []), 'description'];
  const backend = capabilities.backends.length > 1 ? ['backend'] : [];
  const limits = {
    title: t('limits'),
    fields: ['max_rounds', 'max_continuation_retries', 'reasoning_effort', 'stop_conditions'],
  };
  return (
    <>
      {form.opened.isNew && <StartFrom />}
      <AgentFields
        label={t('limits')}
        fields={[...(local ? ['system_prompt'] : []), ...identity, ...backend]}
      />
      {!local && <BackendConfig />}
      <AgentFields label={t('limits')} fields={[limits]} />
    </>
  );
};
