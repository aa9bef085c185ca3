import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { readResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { FixtureButton } from '../../fixtures/FixtureDialog.tsx';
import { askedIn, messagesOf } from '../../history/messages.ts';
import { useTexts } from '../../i18n/locale.ts';
import {
  cancelRun,
  INPUT_MODES,
  type InputMode,
  interruptThread,
  runsChanged,
  sendInput,
  startRun,
  userMessage,
} from '../../runs/control.ts';
import { isOpen, type Run, runHref } from '../../runs/run.ts';
import { useGo } from '../../shell/links.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import { texts } from './texts.ts';

const InputDialog = ({ run, onClose }: { run: Run; onClose: () => void }) => {
  const t = useTexts(texts);
  const [said, setSaid] = useState('');
  const [mode, setMode] = useState<InputMode>(
    run.status === 'waiting' ? 'resume_open_run' : 'live_then_queue',
  );
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    if (said.trim() === '') {
      setProblem(t('input.none'));
      return;
    }
    setBusy(true);
    try {
      await sendInput(run.run_id, said, mode);
      toast('success', t('input.sent'));
      runsChanged();
      onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('input.title')} onClose={onClose}>
      <Field label={t('input.text')} error={problem} required>
        {(control) => (
          <textarea
            {...control}
            rows={4}
            value={said}
            onChange={(event) => {
              setSaid(event.target.value);
              setProblem(undefined);
            }}
          />
        )}
      </Field>
      <Field label={t('input.how')}>
        {(control) => (
          <select {...control} value={mode} onChange={(event) => setMode(event.target.value as InputMode)}>
            {INPUT_MODES.map((each) => (
              <option key={each} value={each}>
                {t(`input.${each}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <DialogActions>
        <Button tone="primary" disabled={busy} onClick={() => void submit()}>
          {t('input.go')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

type Asked = ReturnType<typeof askedIn>[number];

/** The files of the message are sent again with it. */
const AgainDialog = ({ run, asked, onClose }: { run: Run; asked: Asked; onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const [said, setSaid] = useState(asked.text);
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    try {
      const messages = [userMessage(said, asked.files)];
      const { run_id } = await startRun({ agentId: run.agent_id, messages });
      onClose();
      go(runHref(run_id));
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('again.title')} onClose={onClose}>
      <p>{t('again.text')}</p>
      <Field label={t('again.message')} required>
        {(control) => (
          <textarea {...control} rows={6} value={said} onChange={(event) => setSaid(event.target.value)} />
        )}
      </Field>
      <DialogActions>
        <Button
          tone="primary"
          disabled={busy || (said.trim() === '' && asked.files.length === 0)}
          onClick={() => void submit()}
        >
          {t('again.go')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

/** What can be done with a run, in the state that it is in. */
export const Actions = ({ run, isTraced }: { run: Run; isTraced: boolean }) => {
  const t = useTexts(texts);
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
      {isOpen(run) && (
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
            {t('act.cancel')}
          </Button>
        </>
      )}
      {!isOpen(run) && (
        <Button icon="refresh" onClick={() => void askAgain().catch(toastError)}>
          {t('act.again')}
        </Button>
      )}
      {isTraced && (
        <>
          <Button onClick={act(pin, () => t('act.pinned'))}>{t('act.pin')}</Button>
          <FixtureButton runId={run.run_id} />
        </>
      )}
      {open === 'input' && <InputDialog run={run} onClose={close} />}
      {typeof open === 'object' && <AgainDialog run={run} asked={open.again} onClose={close} />}
    </>
  );
};
