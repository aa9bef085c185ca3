import { type ReactNode, useState } from 'react';
import { Markdown } from '../chat/markdown/Markdown.tsx';
import { anyObject, isObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { Json } from '../design/Json.tsx';
import { Ago } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './History.module.css';
import { type Message, textIn } from './messages.ts';
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

/** One message, whoever said it. */
export const Said = ({ message, actions }: { message: Message; actions?: ReactNode }) => {
  const t = useTexts(texts);
  const { role, tool_calls: calls, visibility, created_at } = message;
  const known = ROLES.find((each) => each === role);
  const text = textIn(message);
  const thought = reasoningOf(message);
  const media = message.content.filter(({ type }) => type !== 'text' && type !== 'thinking');
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
      {media.map((block) => (
        <Json key={JSON.stringify(block).slice(0, 200)} value={short(block)} label={String(block.type)} />
      ))}
      {calls.map((call) => (
        <div key={call.id} className={css.call}>
          <span>{t('call', { name: call.name })}</span>
          <Json value={call.arguments} label={call.name} />
        </div>
      ))}
    </article>
  );
};

/** What a file holds is not for reading. */
const short = (block: unknown): unknown => {
  const { source, ...rest } = anyObject(block, '');
  if (!isObject(source) || typeof source.data !== 'string') return block;
  return { ...rest, source: { ...source, data: `${source.data.slice(0, 64)}…` } };
};
