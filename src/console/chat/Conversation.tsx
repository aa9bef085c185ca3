import type { UIMessage } from 'ai';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Dot } from '../design/Chip.tsx';
import { Icon } from '../design/Icon.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { blocksOf, textOf } from './blocks.ts';
import type { CallContext } from './Call.tsx';
import css from './Conversation.module.css';
import type { Place } from './call.ts';
import { useCallTimes } from './call-times.ts';
import { Failure } from './Failure.tsx';
import { Message, type View } from './Message.tsx';
import type { Talk } from './talk.ts';
import texts from './texts.json' with { type: 'json' };

/** The view follows new content while it is scrolled to within this distance of the end. */
const NEAR_PX = 80;

/** Earlier messages are read within this distance of the start. */
const NEAR_START_PX = 300;

export type Earlier = {
  messages: readonly UIMessage[];
  total: number;
  hasMore: boolean;
  isReading: boolean;
  more(): void;
};

/**
 * Scrolls to new content until the reader scrolls away from the end, and keeps the position when earlier messages are
 * added above it.
 */
const useFollowing = (firstId: string | undefined, onStart: (() => void) | undefined) => {
  const ref = useRef<HTMLElement>(null);
  const isFollowing = useRef(true);
  const before = useRef({ firstId, height: 0 });
  const start = useRef(onStart);
  start.current = onStart;
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => ref.current?.scrollTo({ top: ref.current.scrollHeight }), []);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const onScroll = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      setAway(!isFollowing.current);
      if (scrollTop < NEAR_START_PX && !isFollowing.current) start.current?.();
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  // Runs after every render: text, an error or the duration of a call may have made the content longer.
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const { firstId: knownId, height } = before.current;
    before.current = { firstId, height: element.scrollHeight };
    if (firstId === undefined) return;
    if (isFollowing.current) toEnd();
    else if (knownId !== undefined && knownId !== firstId) element.scrollTop += element.scrollHeight - height;
  });
  return { ref, isAway, toEnd };
};

type Acts = Pick<Talk, 'decide' | 'answer' | 'edit' | 'again'> & { fork: Talk['edit'] };

/**
 * Functions whose identity is stable while the conversation is mounted, so that an unchanged message is not rendered
 * again.
 */
const useActs = (talk: Talk): Acts => {
  const latest = useRef(talk);
  latest.current = talk;
  return useMemo(
    () => ({
      decide: (...given) => latest.current.decide(...given),
      answer: (call) => latest.current.answer(call),
      edit: (...given) => latest.current.edit(...given),
      fork: (...given) => latest.current.fork?.(...given),
      again: () => latest.current.again(),
    }),
    [],
  );
};

const EarlierLine = ({ earlier, shown }: { earlier: Earlier; shown: number }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { total, hasMore, isReading, more } = earlier;
  return (
    <div className="row soft center">
      <span>{t('earlier.count', { shown: format.number(shown), total: format.number(total) })}</span>
      {hasMore && (
        <Button small disabled={isReading} onClick={more}>
          {t('earlier.load')}
        </Button>
      )}
    </div>
  );
};

const End = ({ talk, provider }: { talk: Talk; provider: string | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { messages, isBusy, error, stoppedMs, again } = talk;
  if (isBusy) {
    const last = messages.at(-1);
    return last?.role === 'assistant' && blocksOf(last).length > 0 ? null : (
      <div className="row soft" role="status">
        <Dot tone="info" />
        {t('thinking')}
      </div>
    );
  }
  if (error) return <Failure error={error} provider={provider} onRetry={again} />;
  if (stoppedMs === undefined || messages.length === 0) return null;
  return (
    <div className="row soft" role="status">
      <Icon name="stop" size={12} />
      {t('stopped', { time: format.duration(stoppedMs) })}
    </div>
  );
};

export type ConversationProps = {
  talk: Talk;
  view?: View;
  empty: ReactNode;
  earlier?: Earlier | undefined;
  /** The provider of the agent's model, if there is only one. */
  provider?: string | undefined;
  /** True if earlier messages can be edited. */
  editable?: boolean;
  extra?: CallContext['extra'];
};

const NO_MESSAGES: readonly UIMessage[] = [];

export const Conversation = (props: ConversationProps) => {
  const t = useTexts(texts);
  const { talk, view = 'readable', editable = true, extra, earlier, provider } = props;
  const { messages, isBusy } = talk;
  const before = earlier?.messages ?? NO_MESSAGES;
  const canRead = earlier?.hasMore && !earlier.isReading;
  const firstId = (before[0] ?? messages[0])?.id;
  const { ref, isAway, toEnd } = useFollowing(firstId, canRead ? earlier.more : undefined);
  const timeOf = useCallTimes(messages, isBusy);
  const last = messages.at(-1);
  const acts = useActs(talk);
  const contexts = useMemo(() => {
    const at = (place: Place): CallContext => ({ ...acts, place, timeOf, provider, extra });
    return { written: at('written'), last: at('last'), earlier: at('earlier') };
  }, [acts, timeOf, provider, extra]);
  const mayEdit = editable && !isBusy;
  const isEmpty = messages.length === 0 && !isBusy && !talk.error;
  return (
    <div className="column fill sheet">
      <Scroller label={t('conversation')} className={`column ${css.scroller}`} ref={ref}>
        {isEmpty && <div className={css.empty}>{props.empty}</div>}
        {earlier && <EarlierLine earlier={earlier} shown={before.length + messages.length} />}
        {before.map((message) => (
          <Message key={message.id} message={message} view={view} context={contexts.earlier} />
        ))}
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            view={view}
            context={contexts[message !== last ? 'earlier' : isBusy ? 'written' : 'last']}
            onEdit={mayEdit && message.role === 'user' ? acts.edit : undefined}
            onFork={talk.fork && acts.fork}
            onAgain={mayEdit && message === last && message.role === 'assistant' ? acts.again : undefined}
          />
        ))}
        <End talk={talk} provider={provider} />
      </Scroller>
      {isAway && (
        <div className={css.latest}>
          <Button small icon="arrowDown" onClick={toEnd}>
            {t('latest')}
          </Button>
        </div>
      )}
    </div>
  );
};

/** The last message of the user, for `Composer`. */
export const useLastPrompt = (messages: readonly UIMessage[]): string | undefined =>
  useMemo(() => {
    const last = messages.findLast(({ role }) => role === 'user');
    return last && textOf(last);
  }, [messages]);
