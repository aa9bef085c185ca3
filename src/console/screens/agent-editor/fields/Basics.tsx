import { useTexts } from '../../../i18n/locale.ts';
import { isLocal } from '../draft.ts';
import type { PanelPlace } from '../panel.ts';
import { AgentFields } from './AgentFields.tsx';
import { BackendConfig } from './Backend.tsx';
import { StartFrom } from './StartFrom.tsx';
import { texts } from './texts.ts';

/** The prompt, the identity, the model and the limits of an agent. */
export const Basics = (place: PanelPlace) => {
  const t = useTexts(texts);
  const { panel } = place;
  const { draft, capabilities, isNew } = panel;
  const local = isLocal(draft, place.localKind);
  const identity = ['id', ...(local ? ['model_id'] : []), 'description'];
  const backend = capabilities.backends.length > 1 ? ['backend'] : [];
  const limits = {
    title: t('limits'),
    fields: ['max_rounds', 'max_continuation_retries', 'reasoning_effort', 'stop_conditions'],
  };
  return (
    <>
      {isNew && <StartFrom {...place} />}
      <AgentFields
        label={t('limits')}
        panel={panel}
        fields={[...(local ? ['system_prompt'] : []), ...identity, ...backend]}
      />
      {!local && <BackendConfig panel={panel} />}
      <AgentFields label={t('limits')} panel={panel} fields={[limits]} />
    </>
  );
};
