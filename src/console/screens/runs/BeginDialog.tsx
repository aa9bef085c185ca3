import { useState } from 'react';
import { firstAgent, useAgentIds } from '../../data/agents.ts';
import { InputField, SelectField, TextField } from '../../design/Inputs.tsx';
import { FormDialog } from '../../feedback/FormDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { startRun, userMessage } from '../../run-records/control.ts';
import { runHref } from '../../run-records/run.ts';
import texts from './texts.json' with { type: 'json' };

/** Starts a run and opens it. */
export const BeginDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const agents = useAgentIds();
  const [agent, setAgent] = useState<string>();
  const [thread, setThread] = useState('');
  const [message, setMessage] = useState('');
  const chosen = agent ?? firstAgent(agents) ?? '';
  const begin = async (): Promise<void> => {
    const threadId = thread.trim() || undefined;
    const { run_id } = await startRun({ agentId: chosen, threadId, messages: [userMessage(message)] });
    go(runHref(run_id));
  };
  return (
    <FormDialog
      title={t('begin.title')}
      confirm={t('begin.go')}
      isOff={chosen === '' || message.trim() === ''}
      act={begin}
      onClose={onClose}
    >
      <SelectField label={t('begin.agent')} required value={chosen} options={agents} onChange={setAgent} />
      <TextField
        label={t('begin.message')}
        required
        rows={5}
        data-autofocus
        value={message}
        onChange={setMessage}
      />
      <InputField label={t('begin.thread')} value={thread} onChange={setThread} />
    </FormDialog>
  );
};
