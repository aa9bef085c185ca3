import type { Draft } from '../../../data/spec.ts';
import { useIsOffered } from '../../../data/test-agents.ts';
import { FilterSelect } from '../../../design/Field.tsx';
import { readSpec } from '../../../entry/stored-entry.ts';
import { toastError } from '../../../feedback/toasts.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { AGENT, useAgent } from '../agent-form.ts';
import { copyOf } from '../draft.ts';
import texts from './texts.json' with { type: 'json' };

/** Copies another agent into a new one, keeping the new id. */
export const StartFrom = () => {
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
