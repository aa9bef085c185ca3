import { type KeyboardEvent, useId, useState } from 'react';
import { AttachButton, AttachedFiles, useAttachments } from '../../chat/Attachments.tsx';
import { blockOf } from '../../chat/attachments.ts';
import { object, text } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { INPUT_MODES, type InputMode, userMessage } from '../../runs/control.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './Threads.module.css';
import { texts } from './texts.ts';

const Accepted = object({ status: text });

/** Says something in a thread: the next run takes it, or the one that runs. What was typed outlives the thread. */
export const Composer = ({ threadId, isGone }: { threadId: string; isGone: boolean }) => {
  const t = useTexts(texts);
  const [said, setSaid] = useState('');
  const [mode, setMode] = useState<InputMode>('queue');
  const [busy, setBusy] = useState(false);
  const attached = useAttachments();
  const { files, problem, add, clear, take } = attached;
  const problemId = useId();
  const canTell = (said.trim() !== '' || files.length > 0) && !busy && !isGone;
  const tell = async (): Promise<void> => {
    if (!canTell) return;
    setBusy(true);
    try {
      const body = { messages: [userMessage(said, files.map(blockOf))], mode };
      const path = pathOf`/v1/threads/${threadId}/messages`;
      const { status } = await send({ method: 'POST', path, body }, Accepted);
      toast('success', t(status === 'queued' ? 'say.queued' : 'say.sent'));
      setSaid('');
      clear();
      invalidate(pathOf`/v1/threads/${threadId}`);
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void tell();
  };
  return (
    <div className={css.composer}>
      <AttachedFiles attachments={attached} problemId={problemId} />
      <textarea
        aria-label={t('say.text')}
        aria-describedby={problem === undefined ? undefined : problemId}
        placeholder={t('say.text')}
        rows={2}
        value={said}
        onKeyDown={onKeyDown}
        onChange={(event) => setSaid(event.target.value)}
        onPaste={(event) => take(event, event.clipboardData)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => take(event, event.dataTransfer)}
      />
      <div className={css.composerBar}>
        <AttachButton add={add} disabled={isGone} />
        <FilterSelect
          label={t('say.how')}
          value={mode}
          options={INPUT_MODES.map((each) => [each, t(`say.${each}`)] as const)}
          onChange={(value) => setMode(INPUT_MODES.find((each) => each === value) ?? 'queue')}
        />
        <Button small tone="primary" icon="send" disabled={!canTell} onClick={() => void tell()}>
          {t('say.go')}
        </Button>
      </div>
    </div>
  );
};
