import { useEffect, useState } from 'react';
import { Markdown } from '../../chat/markdown/Markdown.tsx';
import { anyObject, isObject } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Json } from '../../design/Json.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Run } from '../../runs/run.ts';
import { type Message, MOST_MESSAGES, messagesOf, textIn } from './messages.ts';
import css from './Talk.module.css';
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
          {t('talk.more', { count: format.number(text.length) })}
        </Button>
      )}
    </>
  );
};

const ROLES = ['user', 'assistant', 'tool', 'system'] as const;

const reasoningOf = ({ metadata }: Message): string =>
  isObject(metadata) && typeof metadata.reasoning === 'string' ? metadata.reasoning : '';

const Said = ({ message }: { message: Message }) => {
  const t = useTexts(texts);
  const { role, tool_calls: calls, visibility, created_at } = message;
  const known = ROLES.find((each) => each === role);
  const text = textIn(message);
  const thought = reasoningOf(message);
  const media = message.content.filter(({ type }) => type !== 'text' && type !== 'thinking');
  return (
    <li className={css.message} data-role={role} data-internal={visibility === 'internal' || undefined}>
      <header className={css.head}>
        <span className={css.role}>{known ? t(`role.${known}`) : role}</span>
        {visibility === 'internal' && <Chip>{t('talk.internal')}</Chip>}
        <span className={css.number}>#{message.seq}</span>
        <Ago at={created_at} />
      </header>
      {thought !== '' && (
        <details className={css.thought}>
          <summary>{t('talk.thinking')}</summary>
          <LongText text={thought} plain={false} />
        </details>
      )}
      {text !== '' && <LongText text={text} plain={role === 'tool'} />}
      {media.map((block) => (
        <Json key={JSON.stringify(block).slice(0, 200)} value={short(block)} label={String(block.type)} />
      ))}
      {calls.map((call) => (
        <div key={call.id} className={css.call}>
          <span>{t('talk.call', { name: call.name })}</span>
          <Json value={call.arguments} label={call.name} />
        </div>
      ))}
    </li>
  );
};

/** What a file holds is not for reading. */
const short = (block: unknown): unknown => {
  const { source, ...rest } = anyObject(block, '');
  if (!isObject(source) || typeof source.data !== 'string') return block;
  return { ...rest, source: { ...source, data: `${source.data.slice(0, 64)}…` } };
};

/** What was said in a run by the moment that is looked at. */
export const Talk = ({
  run,
  newest,
  until,
}: {
  run: Run;
  /** The last message that was told of. */
  newest: number | undefined;
  /** The last that had been said; undefined: all. */
  until: number | undefined;
}) => {
  const t = useTexts(texts);
  const resource = messagesOf(run);
  const query = useResource(resource);
  useEffect(() => {
    if (newest !== undefined) invalidate(resource.path);
  }, [newest, resource.path]);
  return (
    <Loaded query={query}>
      {(all) => {
        const said = until === undefined ? all : all.filter(({ seq }) => seq <= until);
        if (said.length === 0) return <EmptyState title={t('talk.none')}>{null}</EmptyState>;
        return (
          <>
            {all.length >= MOST_MESSAGES && (
              <Notice title={t('talk.cut', { count: MOST_MESSAGES })}>{null}</Notice>
            )}
            <ol className={css.talk} data-testid="run-conversation">
              {said.map((message) => (
                <Said key={message.id} message={message} />
              ))}
            </ol>
          </>
        );
      }}
    </Loaded>
  );
};
