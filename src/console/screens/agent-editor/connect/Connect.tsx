import { EmptyState } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useAgent } from '../agent-form.ts';
import ConnectTo from './ConnectTo.tsx';
import texts from './texts.json' with { type: 'json' };

/** The tab of the editor. A new agent is no model yet. */
export default function Connect() {
  const t = useTexts(texts);
  const { isNew, start } = useAgent().form.opened;
  if (isNew) return <EmptyState title={t('new.title')}>{t('new.text')}</EmptyState>;
  return <ConnectTo agentId={start.id} />;
}
