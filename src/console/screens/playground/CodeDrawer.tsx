import { useState } from 'react';
import type { ClientTool } from '../../chat/client-tools.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Card } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { Snippets } from '../../snippets/Snippets.tsx';
import { ToolDialog } from './ToolDialog.tsx';
import texts from './texts.json' with { type: 'json' };

const Row = (props: { tool: ClientTool; onEdit: () => void; onRemove: () => void }) => {
  const t = useTexts(texts);
  const { name, description, fixed } = props.tool;
  return (
    <li className="item" title={description}>
      <code className="grow cut">{name}</code>
      <Chip>{t(fixed ? 'tool.fixed' : 'tool.byHand')}</Chip>
      <IconButton small icon="edit" label={t('tool.edit', { name })} onClick={props.onEdit} />
      <IconButton small icon="trash" label={t('common.remove', { name })} onClick={props.onRemove} />
    </li>
  );
};

/** Tools that this page executes for the agent. */
const ClientTools = (props: { tools: readonly ClientTool[]; onChange: (tools: ClientTool[]) => void }) => {
  const t = useTexts(texts);
  const { tools, onChange } = props;
  /** `new`, or the tool that is being edited. */
  const [open, setOpen] = useState<ClientTool | 'new'>();
  const put = (tool: ClientTool): void => {
    onChange(open === 'new' ? [...tools, tool] : tools.map((before) => (before === open ? tool : before)));
    setOpen(undefined);
  };
  return (
    <Card
      title={t('tools')}
      flush={tools.length > 0}
      actions={
        <Button small tone="quiet" icon="plus" onClick={() => setOpen('new')}>
          {t('tool.new')}
        </Button>
      }
    >
      {tools.length === 0 ? (
        <p>{t('tools.none')}</p>
      ) : (
        <ul className="divided">
          {tools.map((tool) => (
            <Row
              key={tool.name}
              tool={tool}
              onEdit={() => setOpen(tool)}
              onRemove={() => onChange(tools.filter((other) => other !== tool))}
            />
          ))}
        </ul>
      )}
      {open !== undefined && (
        <ToolDialog
          tool={open === 'new' ? undefined : open}
          others={tools.filter((other) => other !== open).map(({ name }) => name)}
          onDone={put}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Card>
  );
};

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
