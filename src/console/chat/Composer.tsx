import type { FileUIPart } from 'ai';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { AttachButton, AttachedFiles, useAttachments } from './Attachments.tsx';
import type { Attached } from './attachments.ts';
import css from './Composer.module.css';
import { texts } from './texts.ts';

const asParts = (files: readonly Attached[]): FileUIPart[] =>
  files.map(({ type, mediaType, filename, url }) => ({ type, mediaType, filename, url }));

/**
 * Where a message is written. Enter sends it, while an answer comes as soon as that has ended; Shift+Enter begins a line,
 * ↑ in an empty one brings the last back.
 */
export const Composer = (props: {
  placeholder?: string;
  isBusy: boolean;
  disabled?: boolean;
  /** Files are not taken by every agent. */
  attachments?: boolean;
  last: string | undefined;
  onSend: (text: string, files: FileUIPart[]) => void;
  onStop: () => void;
}) => {
  const t = useTexts(texts);
  const [text, setText] = useState('');
  const attached = useAttachments();
  const { files, problem, add, clear, take } = attached;
  const problemId = useId();
  const { isBusy, disabled = false, attachments = true } = props;
  const isEmpty = text.trim() === '' && files.length === 0;
  const [isDue, setDue] = useState(false);
  const send = (): void => {
    if (isEmpty || disabled) return;
    setDue(isBusy);
    if (isBusy) return;
    props.onSend(text.trim(), asParts(files));
    setText('');
    clear();
  };
  useEffect(() => {
    if (isDue && !isBusy) send();
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && text === '' && props.last !== undefined) {
      event.preventDefault();
      setText(props.last);
    }
  };
  return (
    <div className={css.composer}>
      <AttachedFiles attachments={attached} problemId={problemId} />
      <textarea
        className={css.text}
        rows={1}
        aria-label={t('composer.label')}
        aria-describedby={problem === undefined ? undefined : problemId}
        placeholder={props.placeholder ?? t('composer.placeholder')}
        value={text}
        disabled={disabled}
        onChange={(event) => {
          setText(event.target.value);
          setDue(false);
        }}
        onKeyDown={onKeyDown}
        onPaste={(event) => attachments && take(event, event.clipboardData)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => attachments && take(event, event.dataTransfer)}
      />
      <div className={css.actions}>
        {attachments && <AttachButton add={add} disabled={disabled} />}
        <small className={css.due} role="status">
          {isDue && t('composer.due')}
        </small>
        {isBusy ? (
          <Button icon="stop" onClick={props.onStop}>
            {t('composer.stop')}
          </Button>
        ) : (
          <Button tone="primary" icon="send" disabled={isEmpty || disabled} onClick={send}>
            {t('composer.send')}
          </Button>
        )}
      </div>
    </div>
  );
};
