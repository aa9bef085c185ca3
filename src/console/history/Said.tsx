import type { FileUIPart } from 'ai';
import { type ReactNode, useState } from 'react';
import type { InputBlock } from '../../schema/message.ts';
import { FileBlock } from '../chat/FileBlock.tsx';
import { Markdown } from '../chat/markdown/Markdown.tsx';
import { isObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { Json } from '../design/Json.tsx';
import { Ago } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './History.module.css';
import { filesIn, type Message, textIn } from './messages.ts';
import { texts } from './texts.ts';

/** A longer text is cut until somebody wants all of it. */
const LONG = 4000;

const LongText = ({ text, plain }: { text: string; plain: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [isWhole, setWhole] = useState(text.length <= LONG);
  const shown = isWhole ? text : text.slice(0, LONG);
  return (
    <>
      {plain ? <pre className={css.plain}>{redactText(shown)}</pre> : <Markdown text={shown} />}
      {!isWhole && (
        <Button small onClick={() => setWhole(true)}>
          {t('more', { count: format.number(text.length) })}
        </Button>
      )}
    </>
  );
};

const ROLES = ['user', 'assistant', 'tool', 'system'] as const;

const reasoningOf = ({ metadata }: Message): string =>
  isObject(metadata) && typeof metadata.reasoning === 'string' ? metadata.reasoning : '';

/** Types of blocks that have a form of their own here. */
const SHOWN: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'image',
  'audio',
  'video',
  'document',
  'provider_call',
  'source_url',
  'source_document',
]);

/** What the model provider has executed, and the sources of the answer. */
const Provided = ({ content }: Pick<Message, 'content'>) => {
  const t = useTexts(texts);
  const sources = content.filter(({ type }) => type === 'source_url' || type === 'source_document');
  return (
    <>
      {content.map(({ type, tool, id, ...rest }) =>
        type === 'provider_call' ? (
          <div key={String(id)} className={css.call}>
            <span>{t('provider', { name: String(tool) })}</span>
            <Json value={rest} label={String(tool)} />
          </div>
        ) : null,
      )}
      {sources.length > 0 && (
        <div className={css.call}>
          <span>{t('sources')}</span>
          <ul>
            {sources.map((source) => (
              <li key={String(source.id)}>
                <Source title={String(source.title ?? source.url)} url={source.url} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
};

const Source = ({ title, url }: { title: string; url: unknown }) =>
  typeof url === 'string' && /^https?:/i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {redactText(title)}
    </a>
  ) : (
    redactText(title)
  );

/** One message, whoever said it. */
export const Said = ({ message, actions }: { message: Message; actions?: ReactNode }) => {
  const t = useTexts(texts);
  const { role, tool_calls: calls, visibility, created_at } = message;
  const known = ROLES.find((each) => each === role);
  const text = textIn(message);
  const thought = reasoningOf(message);
  const files = filesIn(message).flatMap((block) => fileOf(block) ?? []);
  const rest = message.content.filter(({ type }) => !SHOWN.has(type));
  return (
    <article className={css.message} data-role={role} data-internal={visibility === 'internal' || undefined}>
      <header className={css.head}>
        <span className={css.role}>{known ? t(`role.${known}`) : role}</span>
        {visibility === 'internal' && <Chip>{t('internal')}</Chip>}
        <span className={css.number}>#{message.seq}</span>
        <Ago at={created_at} />
        {actions}
      </header>
      {thought !== '' && (
        <details className={css.thought}>
          <summary>{t('thinking')}</summary>
          <LongText text={thought} plain={false} />
        </details>
      )}
      {text !== '' && <LongText text={text} plain={role === 'tool'} />}
      {files.map((file) => (
        <FileBlock key={file.url.slice(-64) + file.filename} file={file} />
      ))}
      {rest.map((block) => (
        <Json key={JSON.stringify(block).slice(0, 200)} value={block} label={String(block.type)} />
      ))}
      <Provided content={message.content} />
      {calls.map((call) => (
        <div key={call.id} className={css.call}>
          <span>{t('call', { name: call.name })}</span>
          <Json value={call.arguments} label={call.name} />
        </div>
      ))}
    </article>
  );
};

/** Undefined for a block without a source, which no service of today writes. */
const fileOf = (block: InputBlock): FileUIPart | undefined => {
  if (!('source' in block)) return undefined;
  const { type, source, title } = block;
  const mediaType = source.media_type ?? (type === 'document' ? 'application/octet-stream' : `${type}/*`);
  return {
    type: 'file',
    mediaType,
    filename: title ?? (source.type === 'url' ? source.url : mediaType),
    url: source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`,
  };
};
