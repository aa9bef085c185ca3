import type { FileUIPart } from 'ai';
import { Icon } from '../design/Icon.tsx';
import css from './Attachments.module.css';
import { isEmbedded } from './attachments.ts';

/** Only files within the message are shown, so that no message can make the page fetch an address. */
export const FileBlock = ({ file }: { file: FileUIPart }) => {
  const isInside = isEmbedded(file.url);
  const name = file.filename ?? (isInside ? file.mediaType : file.url);
  const [family] = file.mediaType.split('/');
  if (isInside && family === 'image') return <img className="media" src={file.url} alt={name} />;
  if (isInside && family === 'audio') {
    return (
      <audio className="media" src={file.url} controls aria-label={name}>
        <track kind="captions" />
      </audio>
    );
  }
  if (isInside && family === 'video') {
    return (
      <video className="media" src={file.url} controls aria-label={name}>
        <track kind="captions" />
      </video>
    );
  }
  return (
    <span className={`card row ${css.file}`}>
      <Icon name="file" size={14} />
      {isInside ? (
        <a href={file.url} download={file.filename ?? 'file'}>
          {name}
        </a>
      ) : (
        name
      )}
    </span>
  );
};
