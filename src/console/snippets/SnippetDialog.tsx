import { Dialog } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import { Snippets } from './Snippets.tsx';
import texts from './texts.json' with { type: 'json' };

export default function SnippetDialog({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <Dialog title={t('title', { agent: agentId })} size={720} onClose={onClose}>
      <Snippets agentId={agentId} />
    </Dialog>
  );
}
