import type { Draft } from '../../../data/spec.ts';
import { useIsOffered } from '../../../data/test-agents.ts';
import { FilterSelect } from '../../../design/Field.tsx';
import { toastError } from '../../../feedback/toasts.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { copyOf } from '../draft.ts';
import type { PanelPlace } from '../panel.ts';
import { readSpec } from '../use-opened-agent.ts';
import { texts } from './texts.ts';

/** Copies another agent into a new one, keeping the new id. */
export const StartFrom = ({ panel, localKind, onReplace }: PanelPlace) => {
  const t = useTexts(texts);
  const isOffered = useIsOffered();
  const ids = panel.capabilities.agents.filter((id) => !id.includes('/') && isOffered(id));
  const take = (from: string, draft: Draft): Promise<void> =>
    readSpec(from).then((spec) => onReplace({ ...copyOf(spec, localKind), id: draft.id }), toastError);
  return (
    <FilterSelect
      label={t('from')}
      value=""
      options={[['', t('from.blank')], ...ids.map((id) => [id, id] as const)]}
      onChange={(from) => from && void take(from, panel.draft)}
    />
  );
};
