import { useEffect, useRef, useState } from 'react';
import { invalidate, useResource } from '../../data/queries.ts';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { ForkDialog } from '../../fork/ForkDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { isOpen, type Run } from '../../run-records/run.ts';
import { type Message, MOST_MESSAGES, messagesOf } from '../../thread-messages/messages.ts';
import { Sheet, useView } from '../../thread-messages/Transcript.tsx';
import css from './RunDetail.module.css';
import texts from './texts.json' with { type: 'json' };

const Conversation = (props: {
  messages: readonly Message[];
  isEnded: boolean;
  onFork: (message: Message) => void;
}) => {
  const t = useTexts(texts);
  const frame = useRef<HTMLElement>(null);
  const { messages, isEnded, onFork } = props;
  const view = useView(messages, frame);
  const place = isEnded ? 'ended' : 'open';
  return (
    <Scroller ref={frame} label={t('tab.conversation')} className={css.talk}>
      <Sheet view={view} testId="run-conversation" placeOf={() => place} onFork={onFork} />
    </Scroller>
  );
};

/** The conversation of a run up to the selected moment. */
export const Talk = (props: {
  run: Run;
  /** Sequence number of the last reported message. */
  newest: number | undefined;
  /** Sequence number of the last message to show; undefined for all. */
  until: number | undefined;
}) => {
  const { run, newest, until } = props;
  const t = useTexts(texts);
  const [fork, setFork] = useState<Message>();
  const resource = messagesOf(run);
  const query = useResource(resource);
  useEffect(() => {
    if (newest !== undefined) invalidate(resource.path);
  }, [newest, resource.path]);
  return (
    <Loaded query={query}>
      {(all) => {
        const visible = until === undefined ? all : all.filter(({ seq }) => seq <= until);
        if (visible.length === 0) return <EmptyState title={t('talk.none')}>{null}</EmptyState>;
        return (
          <>
            {all.length >= MOST_MESSAGES && (
              <Notice title={t('talk.cut', { count: MOST_MESSAGES })}>{null}</Notice>
            )}
            <Conversation messages={visible} isEnded={until === undefined && !isOpen(run)} onFork={setFork} />
            {fork && (
              <ForkDialog
                threadId={run.thread_id}
                agentId={run.agent_id}
                seq={fork.seq}
                onClose={() => setFork(undefined)}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
};
