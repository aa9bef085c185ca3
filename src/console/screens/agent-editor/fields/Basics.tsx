import type { Draft } from '../../../data/spec.ts';
import { useIsOffered } from '../../../data/test-agents.ts';
import { FilterSelect } from '../../../design/Field.tsx';
import { EntryFields } from '../../../entry/EntryFields.tsx';
import { readSpec } from '../../../entry/stored-entry.ts';
import { toastError } from '../../../feedback/toasts.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { AGENT, useAgent } from '../agent-form.ts';
import { copyOf, isLocal } from '../draft.ts';
import { BackendConfig } from './AgentFields.tsx';
import texts from './texts.json' with { type: 'json' };

/** Copies another agent into a new one, keeping the new id. */
const StartFrom = () => {
  const t = useTexts(texts);
  const { form, capabilities, localKind } = useAgent();
  const isOffered = useIsOffered();
  const ids = capabilities.agents.filter((id) => !id.includes('/') && isOffered(id));
  const take = (from: string, draft: Draft): Promise<void> =>
    readSpec(AGENT, from).then(
      (spec) => form.reset({ ...copyOf(spec, localKind), id: draft.id }),
      toastError,
    );
  return (
    <FilterSelect
      label={t('from')}
      value=""
      options={[['', t('from.blank')], ...ids.map((id) => [id, id] as const)]}
      onChange={(from) => from && void take(from, form.draft)}
    />
  );
};

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
      <EntryFields fields={[...(local ? ['system_prompt'] : []), ...identity, ...backend]} />
      {!local && <BackendConfig />}
      <EntryFields fields={[limits]} />
    </>
  );
};
