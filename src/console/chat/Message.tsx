import type { FileUIPart, UIMessage } from 'ai';
import { memo, type ReactNode, useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { CopyButton } from '../design/Copy.tsx';
import { DialogActions } from '../design/Dialog.tsx';
import { Icon } from '../design/Icon.tsx';
import { Json } from '../design/Json.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { type Block, blocksOf, filesOf, textOf } from './blocks.ts';
import { type CallContext, Calls } from './Call.tsx';
import { withoutPrefix } from './Failure.tsx';
import { FileBlock } from './FileBlock.tsx';
import { LongText } from './LongText.tsx';
import css from './Message.module.css';
import type { Edit } from './talk.ts';
import texts from './texts.json' with { type: 'json' };
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
      <LongText text={text} />
    </details>
  );
};

const Source = ({ title, url }: { title: string; url: string | undefined }) => (
  <span className="row small">
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

/** A failed attempt: while another one is made, and once a message has an end. */
const Retry = (props: { block: Extract<Block, { kind: 'retry' }>; context: CallContext }) => {
  const t = useTexts(texts);
  const { error, attempt, maxAttempts } = props.block;
  const { place, provider } = props.context;
  const isTrying = place === 'written';
  return (
    <div className="row tint alert" data-tone="warn" role="status">
      <Icon name={isTrying ? 'refresh' : 'warn'} size={14} />
      <span className="grow" dir="auto">
        {provider && `${provider}: `}
        {redactText(withoutPrefix(error))} ·{' '}
        {t(isTrying ? 'retry.trying' : 'retry.tried', { attempt, most: maxAttempts })}
      </span>
    </div>
  );
};

const Step = ({ step }: { step: number }) => {
  const t = useTexts(texts);
  return (
    <div className={`row quiet ${css.step}`}>
      <span>{t('step', { step })}</span>
    </div>
  );
};

const BlockView = ({ block, context }: { block: Block; context: CallContext }): ReactNode => {
  switch (block.kind) {
    case 'text':
      return <LongText text={block.text} isGrowing={context.place === 'written'} />;
    case 'reasoning':
      return <Reasoning text={block.text} isStreaming={block.isStreaming} />;
    case 'file':
      return <FileBlock file={block.file} />;
    case 'source':
      return <Source title={block.title} url={block.url} />;
    case 'calls':
      return <Calls tool={block.tool} calls={block.calls} context={context} />;
    case 'data':
      return typeof block.data === 'string' ? (
        <LongText text={block.data} isPlain />
      ) : (
        <Json value={block.data} />
      );
    case 'retry':
      return <Retry block={block} context={context} />;
    case 'step':
      return <Step step={block.step} />;
  }
};

/** The runs that wrote the message, with their model, duration and usage. */
const TurnLine = ({ message }: { message: UIMessage }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const turn = turnOf(message);
  if (turn.runIds.length === 0) return null;
  return (
    <span className="row">
      {turn.runIds.map((id) => (
        <span key={id} title={id}>
          {t('run')}{' '}
          <ScreenLink to={`/runs/${encodeURIComponent(id)}`}>
            <code>{id.slice(-8)}</code>
          </ScreenLink>
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

const Editor = (props: {
  text: string;
  files: readonly FileUIPart[];
  onAsk: (text: string) => void;
  onFork: ((text: string) => void) | undefined;
  onCancel: () => void;
}) => {
  const t = useTexts(texts);
  const [text, setText] = useState(props.text);
  const { files, onFork } = props;
  const said = text.trim();
  const isEmpty = said === '' && files.length === 0;
  return (
    <div className={`stack ${css.editor}`}>
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
      {files.map((file) => (
        <FileBlock key={file.url} file={file} />
      ))}
      <DialogActions>
        <Button small onClick={props.onCancel}>
          {t('common.cancel')}
        </Button>
        {onFork && (
          <Button small disabled={isEmpty} title={t('message.fork.hint')} onClick={() => onFork(said)}>
            {t('common.askInAFork')}
          </Button>
        )}
        <Button small tone="primary" disabled={isEmpty} onClick={() => props.onAsk(said)}>
          {t('message.ask')}
        </Button>
      </DialogActions>
    </div>
  );
};

type MessageProps = {
  message: UIMessage;
  context: CallContext;
  view?: View;
  note?: ReactNode;
  actions?: ReactNode;
  onEdit?: Edit | undefined;
  onFork?: Edit | undefined;
  onAgain?: (() => void) | undefined;
};

export const Message = memo((props: MessageProps) => {
  const t = useTexts(texts);
  const { message, view = 'readable', context, onEdit, onFork, onAgain } = props;
  const [isEditing, setEditing] = useState(false);
  const text = textOf(message);
  const files = filesOf(message);
  const ended = (edit: Edit | undefined) => (edited: string) => {
    setEditing(false);
    edit?.(message.id, edited, files);
  };
  return (
    <article
      className={`stack ${css.message}`}
      data-role={message.role}
      aria-label={t(`role.${message.role}`)}
    >
      {isEditing ? (
        <Editor
          text={text}
          files={files}
          onAsk={ended(onEdit)}
          onFork={onFork && ended(onFork)}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <div className={`stack ${css.body}`}>
          {view === 'json' ? (
            <div data-testid="preview-message-json">
              <Json value={message} label={t('message.json')} />
            </div>
          ) : (
            blocksOf(message).map((block) => <BlockView key={block.key} block={block} context={context} />)
          )}
        </div>
      )}
      {!isEditing && (
        <div className={`row spread quiet ${css.foot}`}>
          {props.note}
          <TurnLine message={message} />
          <span className={css.actions}>
            {text !== '' && <CopyButton text={() => redactText(text)} label={t('message.copy')} />}
            {onEdit && (
              <IconButton small icon="edit" label={t('message.edit')} onClick={() => setEditing(true)} />
            )}
            {onAgain && <IconButton small icon="refresh" label={t('message.again')} onClick={onAgain} />}
            {props.actions}
          </span>
        </div>
      )}
    </article>
  );
});
