import { useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { ErrorBox } from '../../design/Loaded.tsx';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { texts as forkTexts } from '../../fork/texts.ts';
import { type Message, runIdOf, textIn } from '../../history/messages.ts';
import { Said } from '../../history/Said.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { RunChip, RunLink } from '../../runs/RunChip.tsx';
import type { Run } from '../../runs/run.ts';
import css from './Threads.module.css';
import { texts } from './texts.ts';
import type { Conversation as Shown } from './use-conversation.ts';

/** What one is likely to need, so that little moves when it is made: measured in pixels, and in letters of a line. */
const HEAD_PX = 51;
const LINE_PX = 20;
const LINE = 90;

const heightOf = (message: Message | undefined): number =>
  HEAD_PX + LINE_PX * Math.max(1, Math.ceil((message ? textIn(message).length : 0) / LINE));

/** So near to an end more is read. */
const NEAR_PX = 400;

const Separator = ({ id, run }: { id: string; run: Run | undefined }) => {
  const t = useTexts(texts);
  return (
    <div className={css.separator}>
      <span>{t('talk.run')}</span>
      <RunLink id={id} />
      {run && <RunChip run={run} />}
    </div>
  );
};

/** What was said in a thread: of a long one only what is in view is made, and only a part is held. */
export const Conversation = ({
  talk,
  runs,
  onFork,
}: {
  talk: Shown;
  runs: ReadonlyMap<string, Run>;
  onFork: (message: Message) => void;
}): ReactNode => {
  const t = useTexts(texts);
  const say = useTexts(forkTexts);
  const frame = useRef<HTMLElement>(null);
  const { held, isReading, older, newer } = talk;
  const { messages, hasOlder, hasNewer } = held;
  const virtual = useVirtualizer({
    count: messages.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => heightOf(messages[index]),
    getItemKey: (index) => messages[index]?.seq ?? index,
    overscan: 6,
  });
  const isAtEnd = useRef(true);
  const first = useRef<number>(undefined);
  useLayoutEffect(() => {
    const before = first.current;
    const now = messages[0]?.seq;
    first.current = now;
    if (isAtEnd.current && !hasNewer && messages.length > 0) {
      virtual.scrollToIndex(messages.length - 1, { align: 'end' });
    } else if (before !== undefined && now !== undefined && now < before) {
      // What was read before stays where its reader has it.
      const place = messages.findIndex(({ seq }) => seq === before);
      virtual.scrollToIndex(place, { align: 'start' });
    }
  }, [messages, hasNewer, virtual]);
  const onScroll = useMemo(
    () => (): void => {
      const element = frame.current;
      if (!element) return;
      const { scrollTop, clientHeight, scrollHeight } = element;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < 60;
      if (isReading) return;
      if (scrollTop < NEAR_PX && hasOlder) older();
      else if (scrollHeight - scrollTop - clientHeight < NEAR_PX && hasNewer) newer();
    },
    [isReading, hasOlder, hasNewer, older, newer],
  );
  useEffect(() => {
    const element = frame.current;
    element?.addEventListener('scroll', onScroll, { passive: true });
    return () => element?.removeEventListener('scroll', onScroll);
  }, [onScroll]);
  if (talk.error) return <ErrorBox error={talk.error} onRetry={older} />;
  if (!talk.isRead) return <SkeletonRows rows={4} />;
  if (messages.length === 0) return <EmptyState title={t('talk.none')}>{t('talk.noneText')}</EmptyState>;
  return (
    <Scroller ref={frame} label={t('talk.title')} className={css.talk}>
      {hasOlder && (
        <div className={css.more}>
          <Button small disabled={isReading} onClick={older}>
            {t('talk.older')}
          </Button>
        </div>
      )}
      <ol className={css.sheet} style={{ height: virtual.getTotalSize() }} data-testid="thread-conversation">
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const message = messages[index];
          if (!message) return <Fragment key={key} />;
          const runId = runIdOf(message);
          const begins =
            runId !== undefined &&
            runId !== (index > 0 && messages[index - 1] && runIdOf(messages[index - 1] as Message));
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={css.said}
              style={{ transform: `translateY(${start}px)` }}
            >
              {begins && <Separator id={runId} run={runs.get(runId)} />}
              <Said
                message={message}
                actions={
                  message.role === 'user' || message.role === 'assistant' ? (
                    <IconButton small icon="duplicate" label={say('here')} onClick={() => onFork(message)} />
                  ) : undefined
                }
              />
            </li>
          );
        })}
      </ol>
    </Scroller>
  );
};
