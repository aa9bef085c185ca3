import type { FileUIPart } from 'ai';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { AttachButton, AttachedFiles, useAttachments } from './Attachments.tsx';
import type { Attached } from './attachments.ts';
import css from './Composer.module.css';
import texts from './texts.json' with { type: 'json' };

const asParts = (files: readonly Attached[]): FileUIPart[] =>
  files.map(({ type, mediaType, filename, url }) => ({ type, mediaType, filename, url }));

/**
 * Input for a message. Enter sends it, and a message that is sent while the agent responds waits until the response has
 * ended. Shift+Enter inserts a line break; ↑ in an empty input restores the last prompt.
 */
export const Composer = (props: {
  /** Accessible name and placeholder; default: those of a chat. */
  label?: string;
  placeholder?: string;
  /** Further inputs next to the button. */
  options?: ReactNode;
  isBusy: boolean;
  disabled?: boolean;
  /** False for agents that accept no files. */
  attachments?: boolean;
  last?: string | undefined;
  /** The text is kept if the promise is rejected. */
  onSend: (text: string, files: FileUIPart[]) => unknown;
  onStop?: () => void;
}) => {
  const t = useTexts(texts);
  const [text, setText] = useState('');
  const attached = useAttachments();
  const { files, problem, add, clear, take } = attached;
  const problemId = useId();
  const { isBusy, disabled = false, attachments = true } = props;
  const isEmpty = text.trim() === '' && files.length === 0;
  const [isDue, setDue] = useState(false);
  const [isSending, setSending] = useState(false);
  /** Set at once, so that two events before the next render send one message. */
  const sending = useRef(false);
  const cannotSend = isEmpty || disabled || isSending;
  const send = async (): Promise<void> => {
    if (cannotSend || sending.current) return;
    setDue(isBusy);
    if (isBusy) return;
    sending.current = true;
    setSending(true);
    try {
      await props.onSend(text.trim(), asParts(files));
      setText('');
      clear();
    } catch (error) {
      toastError(error);
    }
    sending.current = false;
    setSending(false);
  };
  useEffect(() => {
    if (isDue && !isBusy) void send();
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === 'ArrowUp' && text === '' && props.last !== undefined) {
      event.preventDefault();
      setText(props.last);
    }
  };
  return (
    <div className={`card column fixed ${css.composer}`}>
      <AttachedFiles attachments={attached} problemId={problemId} />
      <textarea
        className={css.text}
        rows={1}
        dir="auto"
        aria-label={props.label ?? t('composer.label')}
        aria-describedby={problem === undefined ? undefined : problemId}
        placeholder={props.placeholder ?? props.label ?? t('composer.placeholder')}
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
      <div className="row">
        {attachments && <AttachButton add={add} disabled={disabled} />}
        <small className="quiet" role="status">
          {isDue && t('composer.due')}
        </small>
        {props.options && <span className="grow">{props.options}</span>}
        {/* Send keeps its place, so that the second click of a double click does not stop the run. */}
        <span className="row push nowrap">
          {isBusy && (
            <Button icon="stop" onClick={props.onStop}>
              {t('composer.stop')}
            </Button>
          )}
          <Button tone="primary" icon="send" disabled={cannotSend} onClick={() => void send()}>
            {t('composer.send')}
          </Button>
        </span>
      </div>
    </div>
  );
};
