import type { UIMessage } from 'ai';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Dot } from '../design/Chip.tsx';
import { ErrorBox } from '../design/Loaded.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useTexts } from '../i18n/locale.ts';
import { textOf } from './blocks.ts';
import type { CallContext } from './Call.tsx';
import css from './Conversation.module.css';
import type { Place } from './call.ts';
import { useCallTimes } from './call-times.ts';
import { Message, type View } from './Message.tsx';
import type { Talk } from './talk.ts';
import { texts } from './texts.ts';

/** So near to its end somebody is who wants to see what comes. */
const NEAR_PX = 80;

/** Follows what is written, until its reader scrolls away from it. */
const useFollowing = (isSaid: boolean) => {
  const ref = useRef<HTMLElement>(null);
  const isFollowing = useRef(true);
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => ref.current?.scrollTo({ top: ref.current.scrollHeight }), []);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const onScroll = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      setAway(!isFollowing.current);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  // Whatever was drawn may be longer now: by what was said, by a failure, by the duration of a call.
  useEffect(() => {
    if (isSaid && isFollowing.current) toEnd();
  });
  return { ref, isAway, toEnd };
};

type Acts = Pick<Talk, 'decide' | 'answer' | 'edit' | 'again'>;

/** The same functions for as long as the conversation is shown, so that a message is drawn again only when it is another. */
const useActs = (talk: Talk): Acts => {
  const latest = useRef(talk);
  latest.current = talk;
  return useMemo(
    () => ({
      decide: (...given) => latest.current.decide(...given),
      answer: (call) => latest.current.answer(call),
      edit: (...given) => latest.current.edit(...given),
      again: () => latest.current.again(),
    }),
    [],
  );
};

export type ConversationProps = {
  talk: Talk;
  view?: View;
  /** Shown while nothing was said. */
  empty: ReactNode;
  /** Of a conversation that can be changed. */
  editable?: boolean;
  extra?: CallContext['extra'];
};

export const Conversation = (props: ConversationProps) => {
  const t = useTexts(texts);
  const { talk, view = 'readable', editable = true, extra } = props;
  const { messages, isBusy, error } = talk;
  const { ref, isAway, toEnd } = useFollowing(messages.length > 0);
  const durationOf = useCallTimes(messages, isBusy);
  const last = messages.at(-1);
  const acts = useActs(talk);
  const contexts = useMemo(() => {
    const at = (place: Place): CallContext => ({ ...acts, place, durationOf, extra });
    return { written: at('written'), last: at('last'), earlier: at('earlier') };
  }, [acts, durationOf, extra]);
  const mayEdit = editable && !isBusy;
  return (
    <div className={css.frame}>
      <Scroller label={t('conversation')} className={css.scroller} ref={ref}>
        {messages.length === 0 && !isBusy && !error && <div className={css.empty}>{props.empty}</div>}
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            view={view}
            context={contexts[message !== last ? 'earlier' : isBusy ? 'written' : 'last']}
            onEdit={mayEdit && message.role === 'user' ? acts.edit : undefined}
            onAgain={mayEdit && message === last && message.role === 'assistant' ? acts.again : undefined}
          />
        ))}
        {isBusy && last?.role !== 'assistant' && (
          <div className={css.waiting} role="status">
            <Dot tone="info" />
            {t('thinking')}
          </div>
        )}
        {error && !isBusy && <ErrorBox error={error} onRetry={talk.again} />}
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

/** What its user said last, for `Composer`. */
export const useLastPrompt = (messages: readonly UIMessage[]): string | undefined =>
  useMemo(() => {
    const last = messages.findLast(({ role }) => role === 'user');
    return last && textOf(last);
  }, [messages]);
