import { useState } from 'react';
import { firstAgent, useAgentIds } from '../../data/agents.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { toastError } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { startRun, userMessage } from '../../run-records/control.ts';
import { runHref } from '../../run-records/run.ts';
import { texts } from './texts.ts';

/** Starts a run and opens it. */
export const BeginDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const agents = useAgentIds();
  const [agent, setAgent] = useState<string>();
  const [thread, setThread] = useState('');
  const [message, setMessage] = useState('');
  const [isChecked, check] = useState(false);
  const [busy, setBusy] = useState(false);
  const chosen = agent ?? firstAgent(agents) ?? '';
  const missing = (value: string): string | undefined =>
    isChecked && value.trim() === '' ? t('begin.required') : undefined;
  const submit = async (): Promise<void> => {
    check(true);
    if (chosen === '' || message.trim() === '') return;
    setBusy(true);
    try {
      const threadId = thread.trim() || undefined;
      const { run_id } = await startRun({ agentId: chosen, threadId, messages: [userMessage(message)] });
      onClose();
      go(runHref(run_id));
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('begin.title')} onClose={onClose}>
      <Field label={t('begin.agent')} error={missing(chosen)} required>
        {(control) => (
          <select {...control} value={chosen} onChange={(event) => setAgent(event.target.value)}>
            {agents.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('begin.message')} error={missing(message)} required>
        {(control) => (
          <textarea
            {...control}
            rows={5}
            data-autofocus
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('begin.thread')}>
        {(control) => (
          <input
            {...control}
            type="text"
            value={thread}
            onChange={(event) => setThread(event.target.value)}
          />
        )}
      </Field>
      <DialogActions>
        <Button tone="primary" disabled={busy} onClick={() => void submit()}>
          {t('begin.go')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
