import { useEffect, useState } from 'react';
import { invalidate, useResource } from '../../data/queries.ts';
import { IconButton } from '../../design/Button.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { ForkDialog } from '../../fork/ForkDialog.tsx';
import { texts as forkTexts } from '../../fork/texts.ts';
import { type Message, MOST_MESSAGES, messagesOf } from '../../history/messages.ts';
import { Said } from '../../history/Said.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Run } from '../../runs/run.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

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
  const say = useTexts(forkTexts);
  const [fork, setFork] = useState<Message>();
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
                <li key={message.id}>
                  <Said
                    message={message}
                    actions={
                      message.role === 'user' || message.role === 'assistant' ? (
                        <IconButton
                          small
                          icon="duplicate"
                          label={say('here')}
                          onClick={() => setFork(message)}
                        />
                      ) : undefined
                    }
                  />
                </li>
              ))}
            </ol>
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
