import { type ReactNode, useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';
import { visibleText } from '../data/visible-text.ts';
import { Button } from '../design/Button.tsx';
import { Chip, Dot } from '../design/Chip.tsx';
import { controlLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import { Json } from '../design/Json.tsx';
import { WholeJson } from '../design/WholeJson.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { AnswerForm } from './AnswerForm.tsx';
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
import type { Talk } from './talk.ts';
import { texts } from './texts.ts';

export type CallContext = Pick<Talk, 'decide' | 'answer'> & {
  place: Place;
  /** Milliseconds. */
  durationOf(toolCallId: string): number | undefined;
  /** What a screen makes of a call beside its card. */
  extra?: ((part: CallPart) => ReactNode) | undefined;
};

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
    <div className={css.approval} data-testid="sandbox-approval">
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
        title={isSeen ? undefined : t('approval.unseen')}
        data-testid="sandbox-approval-allow"
        onClick={() => decide(id, true)}
      >
        {t('approval.allow')}
      </Button>
    </div>
  );
};

const Details = ({ part, asks, onSeen }: { part: CallPart; asks: boolean; onSeen: () => void }) => {
  const t = useTexts(texts);
  const none = <span className={css.none}>{t('call.none')}</span>;
  return (
    <div className={css.details}>
      <div className={css.part}>{t('call.input')}</div>
      {asks ? (
        <WholeJson value={part.input} onSeen={onSeen} />
      ) : part.input === undefined ? (
        none
      ) : (
        <Json value={part.input} label={t('call.input')} />
      )}
      <div className={css.part}>{t('call.output')}</div>
      {part.state === 'output-error' ? (
        <div className={css.error}>{redactText(part.errorText)}</div>
      ) : part.output === undefined ? (
        none
      ) : (
        <Json value={part.output} label={t('call.output')} />
      )}
    </div>
  );
};

/** One call: a line, and all of it once it is opened. Who has to decide sees it whole at once. */
const CallRow = ({ part, context }: { part: CallPart; context: CallContext }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const state = callState(part, context.place);
  const asks = state === 'approval' || state === 'answer';
  const [opened, setOpened] = useState<boolean>();
  const [isSeen, setSeen] = useState(false);
  const isOpened = opened ?? asks;
  const duration = context.durationOf(part.toolCallId);
  return (
    <div className={css.row}>
      <button
        type="button"
        className={css.line}
        aria-expanded={isOpened}
        aria-label={`${t('call.details')}: ${t(`call.${state}`)}`}
        onClick={() => setOpened(!isOpened)}
      >
        <Icon name={isOpened ? 'chevronDown' : 'chevronRight'} size={12} />
        <span className={css.input}>
          {asks ? visibleText(inputLine(part.input)) : inputLine(redact(part.input))}
        </span>
        {duration !== undefined && <span className={css.duration}>{format.duration(duration)}</span>}
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

/** So many of one tool in a row are seen at once. */
const SHOWN = 3;

/** Calls of one tool, with its name once. */
export const Calls = (props: { tool: string; calls: readonly CallPart[]; context: CallContext }) => {
  const t = useTexts(texts);
  const { tool, calls, context } = props;
  const [all, setAll] = useState(false);
  const earlier = all ? 0 : Math.max(0, calls.length - SHOWN);
  const shown = calls.slice(earlier);
  const isAsking = calls.some((part) => isOpen(callState(part, context.place)));
  return (
    <div className={css.card} data-open={isAsking || undefined}>
      <div className={css.head}>
        <Icon name="tools" size={14} />
        <code>{tool}</code>
        {calls.some(isOfProvider) && <Chip>{t('call.provider')}</Chip>}
        {calls.length > 1 && <span className={css.count}>× {calls.length}</span>}
      </div>
      {earlier > 0 && (
        <button type="button" className={css.more} onClick={() => setAll(true)}>
          {t('call.earlier', { count: earlier })}
        </button>
      )}
      {shown.map((part) => (
        <CallRow key={part.toolCallId} part={part} context={context} />
      ))}
    </div>
  );
};
