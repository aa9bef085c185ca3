import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { ErrorBox } from '../../design/Loaded.tsx';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { ForkDialog } from '../../fork/ForkDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { RunChip, RunLink } from '../../run-records/RunChip.tsx';
import { isOpen, type Run } from '../../run-records/run.ts';
import { type Message, runIdOf } from '../../thread-messages/messages.ts';
import { Sheet, useView } from '../../thread-messages/Transcript.tsx';
import css from './Threads.module.css';
import texts from './texts.json' with { type: 'json' };
import type { Conversation as Shown } from './use-conversation.ts';

/** More messages are read within this distance of an end. */
const NEAR_PX = 400;

const Separator = ({ id, run }: { id: string; run: Run | undefined }) => {
  const t = useTexts(texts);
  return (
    <div className={`row quiet center ${css.between}`}>
      <span>{t('talk.run')}</span>
      <RunLink id={id} />
      {run && <RunChip run={run} />}
    </div>
  );
};

/** Reads more messages when it is scrolled near an end. `isAtEnd` follows whether the end is visible. */
const useReadsNearEnds = (
  frame: RefObject<HTMLElement | null>,
  { held: { hasOlder, hasNewer }, isReading, older, newer }: Shown,
  isAtEnd: RefObject<boolean>,
): void => {
  const hasScrolled = useRef(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const onScroll = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < 60;
      hasScrolled.current = isReading;
      if (isReading) return;
      if (scrollTop < NEAR_PX && hasOlder) older();
      else if (scrollHeight - scrollTop - clientHeight < NEAR_PX && hasNewer) newer();
    };
    // The end of a read, during which it was scrolled, emits no event.
    if (hasScrolled.current && !isReading) onScroll();
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
    // Not after every render: a listener that is replaced while the event is dispatched is not called.
  }, [frame, isAtEnd, isReading, hasOlder, hasNewer, older, newer]);
};

/**
 * The conversation of a thread. Only visible messages are rendered, and only a part of a long conversation is kept in
 * memory.
 */
export const Conversation = (props: { threadId: string; talk: Shown; runs: readonly Run[] }): ReactNode => {
  const { threadId, talk, runs } = props;
  const t = useTexts(texts);
  const known = useMemo(() => new Map(runs.map((run) => [run.run_id, run])), [runs]);
  const [fork, setFork] = useState<Message>();
  const frame = useRef<HTMLElement>(null);
  const { held, isReading, older } = talk;
  const { messages, hasOlder, hasNewer } = held;
  const view = useView(messages, frame);
  const { rows, virtual } = view;
  const isAtEnd = useRef(true);
  const first = useRef<number>(undefined);
  useLayoutEffect(() => {
    const before = first.current;
    const now = messages[0]?.seq;
    first.current = now;
    if (isAtEnd.current && !hasNewer && messages.length > 0) {
      virtual.scrollToIndex(rows.length - 1, { align: 'end' });
    } else if (before !== undefined && now !== undefined && now < before) {
      // Keeps the scroll position when older messages are inserted.
      const place = rows.findIndex(({ said }) => said.seq >= before);
      virtual.scrollToIndex(place, { align: 'start' });
    }
  }, [messages, rows, hasNewer, virtual]);
  useReadsNearEnds(frame, talk, isAtEnd);
  if (talk.error) return <ErrorBox error={talk.error} onRetry={older} />;
  if (!talk.isRead) return <SkeletonRows rows={4} />;
  if (messages.length === 0) return <EmptyState title={t('talk.none')}>{t('talk.noneText')}</EmptyState>;
  return (
    <Scroller ref={frame} label={t('talk.title')} className="scrolls">
      {hasOlder && (
        <div className={`row quiet center ${css.between}`}>
          <Button small disabled={isReading} onClick={older}>
            {t('talk.older')}
          </Button>
        </div>
      )}
      <Sheet
        view={view}
        testId="thread-conversation"
        above={(message, before) => {
          const id = runIdOf(message);
          if (id === undefined || (before && runIdOf(before) === id)) return null;
          return <Separator id={id} run={known.get(id)} />;
        }}
        placeOf={(message) => {
          const run = known.get(runIdOf(message) ?? '');
          return run && isOpen(run) ? 'open' : 'ended';
        }}
        onFork={setFork}
      />
      {fork && (
        <ForkDialog
          threadId={threadId}
          agentId={runs[0]?.agent_id ?? 'default'}
          seq={fork.seq}
          onClose={() => setFork(undefined)}
        />
      )}
    </Scroller>
  );
};
