import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Attachments.module.css';
import { ACCEPT, type Attached, attach, MOST_BYTES, MOST_FILES, refusalOf, sizeText } from './attachments.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * Files to send with the next message. They can be chosen, pasted or dropped, and removed; a refusal shows its reason.
 */
export const useAttachments = () => {
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
  const remove = (removed: Attached): void => setFiles(files.filter((file) => file !== removed));
  const clear = (): void => {
    setFiles([]);
    setProblem(undefined);
  };
  /** Handler for `onPaste` and `onDrop`. Events without files keep the default behavior of the browser. */
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer): void => {
    if (from.files.length === 0) return;
    event.preventDefault();
    void add([...from.files]);
  };
  return { files, problem, add, remove, clear, take };
};

export type Attachments = ReturnType<typeof useAttachments>;

const Preview = ({ file }: { file: Attached }): ReactNode =>
  file.mediaType.startsWith('image/') ? (
    <img className={css.preview} src={file.url} alt="" />
  ) : (
    <Icon name="file" size={12} />
  );

/** The attached files. `problemId` is the id of the message about a refused file, which describes the text field. */
export const AttachedFiles = (props: { attachments: Attachments; problemId: string }) => {
  const {
    attachments: { files, problem, remove },
    problemId,
  } = props;
  const t = useTexts(texts);
  return (
    <>
      {problem !== undefined && (
        <div className="tint alert" data-tone="error" id={problemId} role="alert">
          {problem}
        </div>
      )}
      {files.length > 0 && (
        <ul className={`row ${css.files}`} data-testid="sandbox-selected-files">
          {files.map((file) => (
            <li key={file.url.slice(-64) + file.filename} className="row">
              <Preview file={file} />
              <span className="cut" style={{ maxWidth: 160 }}>
                {file.filename}
              </span>
              <small className="quiet">{sizeText(file.bytes)}</small>
              <IconButton
                small
                icon="close"
                label={t('composer.remove', { name: file.filename })}
                onClick={() => remove(file)}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

export const AttachButton = ({ add, disabled }: Pick<Attachments, 'add'> & { disabled: boolean }) => {
  const t = useTexts(texts);
  const chooser = useRef<HTMLInputElement>(null);
  return (
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
  );
};
