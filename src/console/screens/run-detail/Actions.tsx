import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { useMayInvoke } from '../../data/identity.ts';
import { readResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { SelectField } from '../../design/Inputs.tsx';
import { TextDialog } from '../../feedback/FormDialog.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { FixtureButton } from '../../fixtures/FixtureDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import {
  cancelRun,
  INPUT_MODES,
  type InputMode,
  interruptThread,
  runsChanged,
  sendInput,
  startRun,
  userMessage,
} from '../../run-records/control.ts';
import { isOpen, type Run, runHref } from '../../run-records/run.ts';
import { askedIn, messagesOf } from '../../thread-messages/messages.ts';
import texts from './texts.json' with { type: 'json' };

const InputDialog = ({ run, onClose }: { run: Run; onClose: () => void }) => {
  const t = useTexts(texts);
  const [mode, setMode] = useState<InputMode>(
    run.status === 'waiting' ? 'resume_open_run' : 'live_then_queue',
  );
  const send = async (said: string): Promise<void> => {
    await sendInput(run.run_id, said, mode);
    toast('success', t('input.sent'));
    runsChanged();
  };
  return (
    <TextDialog
      title={t('input.title')}
      label={t('input.text')}
      confirm={t('input.go')}
      rows={5}
      onSave={send}
      onClose={onClose}
    >
      <SelectField
        label={t('input.how')}
        value={mode}
        options={INPUT_MODES.map((each) => [each, t(`input.${each}`)] as const)}
        onChange={(next) => setMode(INPUT_MODES.find((each) => each === next) ?? mode)}
      />
    </TextDialog>
  );
};

type Asked = ReturnType<typeof askedIn>[number];

/** Runs a message again, including its files. */
const AgainDialog = ({ run, asked, onClose }: { run: Run; asked: Asked; onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const send = async (said: string): Promise<void> => {
    const messages = [userMessage(said, asked.files)];
    const { run_id } = await startRun({ agentId: run.agent_id, messages });
    go(runHref(run_id));
  };
  return (
    <TextDialog
      title={t('common.runAgain')}
      hint={t('again.text')}
      label={t('common.message')}
      confirm={t('common.start')}
      initial={asked.text}
      mayBeEmpty={asked.files.length > 0}
      rows={5}
      onSave={send}
      onClose={onClose}
    />
  );
};

export const Actions = ({ run, isTraced }: { run: Run; isTraced: boolean }) => {
  const t = useTexts(texts);
  const mayInvoke = useMayInvoke();
  const [open, setOpen] = useState<'input' | { again: Asked }>();
  const close = (): void => setOpen(undefined);
  const act = (work: () => Promise<unknown>, said: (answer: unknown) => string) => (): void => {
    work().then((answer) => {
      toast('info', said(answer));
      runsChanged();
    }, toastError);
  };
  const askAgain = async (): Promise<void> => {
    const messages = await readResource(messagesOf(run));
    setOpen({ again: askedIn(messages).at(-1) ?? { text: '', files: [] } });
  };
  const pin = () => send({ method: 'POST', path: pathOf`/v1/traces/${run.run_id}/pin` }, anything);
  return (
    <>
      {mayInvoke && isOpen(run) && (
        <>
          <Button icon="send" onClick={() => setOpen('input')}>
            {t('act.input')}
          </Button>
          <Button
            onClick={act(
              () => interruptThread(run.thread_id),
              (count) => t('act.interrupted', { count: Number(count) }),
            )}
          >
            {t('act.interrupt')}
          </Button>
          <Button
            tone="danger"
            icon="stop"
            data-testid="run-cancel"
            onClick={act(
              () => cancelRun(run.run_id),
              () => t('act.cancelled'),
            )}
          >
            {t('common.cancelRun')}
          </Button>
        </>
      )}
      {mayInvoke && !isOpen(run) && (
        <Button icon="refresh" onClick={() => void askAgain().catch(toastError)}>
          {t('common.runAgain')}
        </Button>
      )}
      {isTraced && (
        <>
          <Button onClick={act(pin, () => t('act.pinned'))}>{t('common.keepTrace')}</Button>
          <FixtureButton runId={run.run_id} />
        </>
      )}
      {open === 'input' && <InputDialog run={run} onClose={close} />}
      {typeof open === 'object' && <AgainDialog run={run} asked={open.again} onClose={close} />}
    </>
  );
};
