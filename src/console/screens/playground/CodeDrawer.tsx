import type { ClientTool } from '../../chat/client-tools.ts';
import { Drawer } from '../../design/Dialog.tsx';
import { Card } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { Snippets } from '../../snippets/Snippets.tsx';
import { ClientTools } from './ClientTools.tsx';
import texts from './texts.json' with { type: 'json' };

/** The agent in code: snippets that call it, and tools of the page. */
export default function CodeDrawer(props: {
  agentId: string;
  threadId: string;
  tools: readonly ClientTool[];
  onTools: (tools: ClientTool[]) => void;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  return (
    <Drawer title={t('code')} onClose={props.onClose}>
      <Card title={t('snippets')}>
        <Snippets agentId={props.agentId} threadId={props.threadId} />
      </Card>
      <ClientTools tools={props.tools} onChange={props.onTools} />
    </Drawer>
  );
}
