import { type ReactNode, useMemo, useState } from 'react';
import { isObject } from '../data/guard.ts';
import { parseJson } from '../data/json-text.ts';
import { redactText } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';
import { visibleText } from '../data/visible-text.ts';
import { Button } from '../design/Button.tsx';
import { Chip, Dot } from '../design/Chip.tsx';
import { DialogActions } from '../design/Dialog.tsx';
import { controlLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import { TextField } from '../design/Inputs.tsx';
import { Json } from '../design/Json.tsx';
import { WholeJson } from '../design/WholeJson.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './Call.module.css';
import {
  CALL_TONES,
  type CallPart,
  type CallState,
  callState,
  inputLine,
  isOfProvider,
  isOpen,
  type Place,
  toolOf,
} from './call.ts';
import type { CallTime } from './call-times.ts';
import { FileBlock } from './FileBlock.tsx';
import { LongText } from './LongText.tsx';
import { withoutFiles } from './output-files.ts';
import type { Talk } from './talk.ts';
import texts from './texts.json' with { type: 'json' };

/** Lets the user enter the result of a tool that the page executes. */
const AnswerForm = (props: { tool: string; toolCallId: string; answer: Talk['answer'] }) => {
  const t = useTexts(texts);
  const { tool, toolCallId, answer } = props;
  const [text, setText] = useState('{\n  "ok": true\n}');
  const [problem, setProblem] = useState<string>();
  const give = (): void => {
    const parsed = parseJson(text);
    if ('reason' in parsed) setProblem(t('answer.invalid', { reason: parsed.reason }));
    else answer({ tool, toolCallId, output: parsed.value });
  };
  return (
    <div className="stack inset ruled">
      <TextField
        label={t('answer.label', { tool })}
        error={problem}
        isCode
        value={text}
        onChange={(edited) => {
          setProblem(undefined);
          setText(edited);
        }}
      />
      <DialogActions>
        <Button small onClick={() => answer({ tool, toolCallId, errorText: t('answer.failed') })}>
          {t('answer.fail')}
        </Button>
        <Button small tone="primary" onClick={give}>
          {t('answer.give')}
        </Button>
      </DialogActions>
    </div>
  );
};

export type CallContext = Pick<Talk, 'decide' | 'answer'> & {
  place: Place;
  timeOf(toolCallId: string): CallTime | undefined;
  /** The provider of the agent's model, if there is only one. */
  provider?: string | undefined;
  extra?: ((part: CallPart) => ReactNode) | undefined;
};

const nothing = (): void => {};

/** For conversations that are only shown. */
const readOnly = (place: Place): CallContext => ({
  place,
  timeOf: () => undefined,
  decide: nothing,
  answer: nothing,
});

export const READ_ONLY = {
  open: readOnly('open'),
  ended: readOnly('ended'),
  inference: readOnly('inference'),
} as const;

const StateChip = ({ state }: { state: CallState }) => {
  const t = useTexts(texts);
  const tone = CALL_TONES[state];
  return (
    <Chip tone={tone}>
      {state === 'calling' && <Dot tone="info" />}
      {t(`call.${state}`)}
    </Chip>
  );
};

const Approval = ({ id, isSeen, decide }: { id: string; isSeen: boolean; decide: Talk['decide'] }) => {
  const t = useTexts(texts);
  const [reason, setReason] = useState('');
  const deny = (): void => decide(id, false, reason.trim());
  return (
    <div className={`row inset ruled ${css.approval}`} data-testid="sandbox-approval">
      <span>{t('approval.text')}</span>
      <input
        type="text"
        className={controlLook}
        aria-label={t('approval.reason')}
        placeholder={t('approval.reason')}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing && reason.trim() !== '') deny();
        }}
      />
      <Button small data-testid="sandbox-approval-deny" onClick={deny}>
        {t('approval.deny')}
      </Button>
      <Button
        small
        tone="primary"
        disabled={!isSeen}
        title={isSeen ? undefined : t('common.unread')}
        data-testid="sandbox-approval-allow"
        onClick={() => decide(id, true)}
      >
        {t('approval.allow')}
      </Button>
    </div>
  );
};

/** The result proper of an output that also has metadata, for example of an MCP server. */
const dataOf = (output: unknown): { data: unknown; hasMore: boolean } =>
  isObject(output) && 'data' in output && 'metadata' in output
    ? { data: output.data, hasMore: true }
    : { data: output, hasMore: false };

/** Files in the output are shown like the files of messages, and the metadata on request. */
const Output = ({ value }: { value: unknown }) => {
  const t = useTexts(texts);
  const { data, hasMore } = dataOf(value);
  const { shown, files } = useMemo(() => withoutFiles(data), [data]);
  return (
    <>
      {typeof shown === 'string' ? (
        <LongText text={shown} isPlain />
      ) : (
        <Json value={shown} label={t('call.output')} />
      )}
      {files.map((file) => (
        <FileBlock key={file.url} file={file} />
      ))}
      {hasMore && (
        <details className="section">
          <summary>{t('call.raw')}</summary>
          <Json value={value} label={t('call.raw')} />
        </details>
      )}
    </>
  );
};

const Time = ({ time: { waited, ran } }: { time: CallTime }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const values = { waited: format.duration(waited), ran: format.duration(ran) };
  return <span className="mono number">{waited > 0 ? t('call.waited', values) : values.ran}</span>;
};

const Details = ({ part, asks, onSeen }: { part: CallPart; asks: boolean; onSeen: () => void }) => {
  const t = useTexts(texts);
  const none = <span className="quiet">{t('call.none')}</span>;
  return (
    <div className={`stack ${css.details}`}>
      <div className="quiet">{t('call.input')}</div>
      {asks ? (
        <WholeJson value={part.input} onSeen={onSeen} />
      ) : part.input === undefined ? (
        none
      ) : (
        <Json value={part.input} label={t('call.input')} />
      )}
      <div className="quiet">{t('call.output')}</div>
      {part.state === 'output-error' ? (
        <div className="tint alert" data-tone="error">
          {redactText(part.errorText)}
        </div>
      ) : part.output === undefined ? (
        none
      ) : (
        <Output value={part.output} />
      )}
    </div>
  );
};

/** A call as one line that expands to its details. A call that needs a decision or an output is expanded initially. */
const CallRow = ({ part, context }: { part: CallPart; context: CallContext }) => {
  const state = callState(part, context.place);
  const asks = state === 'approval' || state === 'answer';
  const [opened, setOpened] = useState<boolean>();
  const [isSeen, setSeen] = useState(false);
  const isOpened = opened ?? asks;
  const time = context.timeOf(part.toolCallId);
  return (
    <div className={css.row} data-call={state}>
      <button
        type="button"
        className={`item ${css.line}`}
        aria-expanded={isOpened}
        onClick={() => setOpened(!isOpened)}
      >
        <Icon name={isOpened ? 'chevronDown' : 'chevronRight'} size={12} />
        <span className="mono cut grow">
          {asks ? visibleText(inputLine(part.input)) : inputLine(redact(part.input))}
        </span>
        {time && <Time time={time} />}
        <StateChip state={state} />
      </button>
      {isOpened && <Details part={part} asks={asks} onSeen={() => setSeen(true)} />}
      {part.state === 'approval-requested' && state === 'approval' && (
        <Approval id={part.approval.id} isSeen={isSeen} decide={context.decide} />
      )}
      {state === 'answer' && (
        <AnswerForm tool={toolOf(part)} toolCallId={part.toolCallId} answer={context.answer} />
      )}
      {context.extra?.(part)}
    </div>
  );
};

/** Number of consecutive calls of one tool that are shown initially. */
const SHOWN = 3;

/** Consecutive calls of one tool, grouped under its name. */
export const Calls = (props: { tool: string; calls: readonly CallPart[]; context: CallContext }) => {
  const t = useTexts(texts);
  const { tool, calls, context } = props;
  const [all, setAll] = useState(false);
  const earlier = all ? 0 : Math.max(0, calls.length - SHOWN);
  const shown = calls.slice(earlier);
  const isAsking = calls.some((part) => isOpen(callState(part, context.place)));
  return (
    <div className="card clip" data-open={isAsking || undefined}>
      <div className={`item ${css.tool}`}>
        <Icon name="tools" size={14} />
        <code className="cut">{tool}</code>
        {calls.some(isOfProvider) && <Chip>{t('call.provider')}</Chip>}
        {calls.length > 1 && <span className="quiet">× {calls.length}</span>}
      </div>
      {earlier > 0 && (
        <button type="button" className="item quiet" onClick={() => setAll(true)}>
          {t('call.earlier', { count: earlier })}
        </button>
      )}
      {shown.map((part) => (
        <CallRow key={part.toolCallId} part={part} context={context} />
      ))}
    </div>
  );
};
