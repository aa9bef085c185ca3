import type { FileUIPart } from 'ai';
import { Icon } from '../design/Icon.tsx';
import css from './Message.module.css';

/** Only files embedded in the message are shown, so that no message can make the page fetch an address. */
const isInside = (url: string): boolean => /^(data|blob):/i.test(url);

export const FileBlock = ({ file }: { file: FileUIPart }) => {
  const name = file.filename ?? file.mediaType;
  const [family] = file.mediaType.split('/');
  if (isInside(file.url) && family === 'image')
    return <img className={css.image} src={file.url} alt={name} />;
  if (isInside(file.url) && family === 'audio') {
    return (
      <audio className={css.media} src={file.url} controls aria-label={name}>
        <track kind="captions" />
      </audio>
    );
  }
  if (isInside(file.url) && family === 'video') {
    return (
      <video className={css.media} src={file.url} controls aria-label={name}>
        <track kind="captions" />
      </video>
    );
  }
  return (
    <span className={css.file}>
      <Icon name="file" size={14} />
      {isInside(file.url) ? (
        <a href={file.url} download={file.filename ?? 'file'}>
          {name}
        </a>
      ) : (
        name
      )}
    </span>
  );
};
