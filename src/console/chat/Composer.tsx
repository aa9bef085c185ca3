import type { FileUIPart } from 'ai';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ACCEPT, type Attached, attach, MOST_BYTES, MOST_FILES, refusalOf, sizeText } from './attachments.ts';
import css from './Composer.module.css';
import { texts } from './texts.ts';

/** Files that are to go with the next message, and why others are not. */
const useAttachments = () => {
  const t = useTexts(texts);
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState<string>();
  const add = async (added: readonly File[]): Promise<void> => {
    if (added.length === 0) return;
    const refusal = refusalOf(added, files);
    if (refusal) {
      const values = { count: MOST_FILES, size: sizeText(MOST_BYTES), name: refusal.name };
      return setProblem(t(`composer.${refusal.reason}`, values));
    }
    setProblem(undefined);
    try {
      const read = await Promise.all(added.map(attach));
      setFiles((before) => [...before, ...read].slice(0, MOST_FILES));
    } catch {
      setProblem(t('composer.unreadable', { name: added.map(({ name }) => name).join(', ') }));
    }
  };
  const remove = (gone: Attached): void => setFiles(files.filter((file) => file !== gone));
  const clear = (): void => {
    setFiles([]);
    setProblem(undefined);
  };
  return { files, problem, add, remove, clear };
};

const asParts = (files: readonly Attached[]): FileUIPart[] =>
  files.map(({ type, mediaType, filename, url }) => ({ type, mediaType, filename, url }));

const Chosen = ({ files, onRemove }: { files: readonly Attached[]; onRemove: (file: Attached) => void }) => {
  const t = useTexts(texts);
  if (files.length === 0) return null;
  return (
    <ul className={css.files} data-testid="sandbox-selected-files">
      {files.map((file) => (
        <li key={file.url.slice(-64) + file.filename}>
          <Icon name="file" size={12} />
          <span>{file.filename}</span>
          <small>{sizeText(file.bytes)}</small>
          <IconButton
            small
            icon="close"
            label={t('composer.remove', { name: file.filename })}
            onClick={() => onRemove(file)}
          />
        </li>
      ))}
    </ul>
  );
};

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
  const { files, problem, add, remove, clear } = useAttachments();
  const chooser = useRef<HTMLInputElement>(null);
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
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer): void => {
    if (!attachments || from.files.length === 0) return;
    event.preventDefault();
    void add([...from.files]);
  };
  return (
    <div className={css.composer}>
      {problem !== undefined && (
        <div className={css.problem} id={problemId} role="alert">
          {problem}
        </div>
      )}
      <Chosen files={files} onRemove={remove} />
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
        onPaste={(event) => take(event, event.clipboardData)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => take(event, event.dataTransfer)}
      />
      <div className={css.actions}>
        {attachments && (
          <>
            <input
              ref={chooser}
              type="file"
              multiple
              hidden
              accept={ACCEPT}
              onChange={(event) => {
                void add([...(event.target.files ?? [])]);
                event.target.value = '';
              }}
            />
            <IconButton
              icon="attach"
              label={t('composer.attach')}
              disabled={disabled}
              onClick={() => chooser.current?.click()}
            />
          </>
        )}
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
