import type { UIMessage } from 'ai';
import { memo, type ReactNode, useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { CopyButton } from '../design/Copy.tsx';
import { Icon } from '../design/Icon.tsx';
import { Json } from '../design/Json.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../shell/links.tsx';
import { type Block, blocksOf, textOf } from './blocks.ts';
import { type CallContext, Calls } from './Call.tsx';
import { FileBlock } from './FileBlock.tsx';
import css from './Message.module.css';
import { Markdown } from './markdown/Markdown.tsx';
import { texts } from './texts.ts';
import { turnOf } from './turn.ts';

export type View = 'readable' | 'json';

const Reasoning = ({ text, isStreaming }: { text: string; isStreaming: boolean }) => {
  const t = useTexts(texts);
  return (
    <details className={css.reasoning}>
      <summary>
        <Icon name="chevronRight" size={12} />
        {t(isStreaming ? 'thinking' : 'reasoning')}
      </summary>
      <Markdown text={text} />
    </details>
  );
};

const Source = ({ title, url }: { title: string; url: string | undefined }) => (
  <span className={css.source}>
    <Icon name="external" size={12} />
    {url !== undefined && /^https?:/i.test(url) ? (
      <a href={url} target="_blank" rel="noreferrer noopener">
        {redactText(title)}
      </a>
    ) : (
      redactText(title)
    )}
  </span>
);

const Step = ({ step }: { step: number }) => {
  const t = useTexts(texts);
  return (
    <div className={css.step}>
      <span>{t('step', { step })}</span>
    </div>
  );
};

const BlockView = ({ block, context }: { block: Block; context: CallContext }): ReactNode => {
  switch (block.kind) {
    case 'text':
      return <Markdown text={block.text} />;
    case 'reasoning':
      return <Reasoning text={block.text} isStreaming={block.isStreaming} />;
    case 'file':
      return <FileBlock file={block.file} />;
    case 'source':
      return <Source title={block.title} url={block.url} />;
    case 'calls':
      return <Calls tool={block.tool} calls={block.calls} context={context} />;
    case 'step':
      return <Step step={block.step} />;
  }
};

/** Which runs wrote it, with what, and how long that took. */
const TurnLine = ({ message }: { message: UIMessage }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const turn = turnOf(message);
  if (turn.runIds.length === 0) return null;
  return (
    <span className={css.turn}>
      {turn.runIds.map((id) => (
        <span key={id} title={id}>
          {t('run')} <ScreenLink to={`/runs/${encodeURIComponent(id)}`}>{id.slice(-8)}</ScreenLink>
        </span>
      ))}
      {turn.model && <span>{turn.model}</span>}
      {turn.inferences > 0 && (
        <>
          <span>{format.duration(turn.durationMs)}</span>
          <span>
            {t('tokens', {
              input: format.compact(turn.inputTokens),
              output: format.compact(turn.outputTokens),
            })}
          </span>
        </>
      )}
      {turn.costUsd !== undefined && <span>{format.usd(turn.costUsd)}</span>}
    </span>
  );
};

const Editor = (props: { text: string; onAsk: (text: string) => void; onCancel: () => void }) => {
  const t = useTexts(texts);
  const [text, setText] = useState(props.text);
  return (
    <div className={css.editor}>
      <textarea
        aria-label={t('message.edited')}
        ref={(element) => element?.focus()}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          props.onCancel();
        }}
      />
      <div className={css.editorActions}>
        <Button small onClick={props.onCancel}>
          {t('message.cancel')}
        </Button>
        <Button small tone="primary" disabled={text.trim() === ''} onClick={() => props.onAsk(text.trim())}>
          {t('message.ask')}
        </Button>
      </div>
    </div>
  );
};

type MessageProps = {
  message: UIMessage;
  view: View;
  context: CallContext;
  onEdit: ((messageId: string, text: string) => void) | undefined;
  onAgain: (() => void) | undefined;
};

export const Message = memo(({ message, view, context, onEdit, onAgain }: MessageProps) => {
  const t = useTexts(texts);
  const [isEditing, setEditing] = useState(false);
  const text = textOf(message);
  const ask = (edited: string): void => {
    setEditing(false);
    onEdit?.(message.id, edited);
  };
  return (
    <article className={css.message} data-role={message.role} aria-label={t(`role.${message.role}`)}>
      {isEditing ? (
        <Editor text={text} onAsk={ask} onCancel={() => setEditing(false)} />
      ) : (
        <div className={css.body}>
          {view === 'json' ? (
            <div data-testid="preview-message-json">
              <Json value={message} label={t('message.json')} />
            </div>
          ) : (
            blocksOf(message).map((block) => <BlockView key={block.key} block={block} context={context} />)
          )}
        </div>
      )}
      <div className={css.foot}>
        <TurnLine message={message} />
        <span className={css.actions}>
          {text !== '' && <CopyButton text={() => redactText(text)} label={t('message.copy')} />}
          {onEdit && !isEditing && (
            <IconButton small icon="edit" label={t('message.edit')} onClick={() => setEditing(true)} />
          )}
          {onAgain && <IconButton small icon="refresh" label={t('message.again')} onClick={onAgain} />}
        </span>
      </div>
    </article>
  );
});
