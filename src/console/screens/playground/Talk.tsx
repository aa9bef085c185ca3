import { useEffect, useMemo, useRef, useState } from 'react';
import { Composer } from '../../chat/Composer.tsx';
import { Conversation, useLastPrompt } from '../../chat/Conversation.tsx';
import type { ClientTool } from '../../chat/client-tools.ts';
import type { View } from '../../chat/Message.tsx';
import { StatsBar } from '../../chat/StatsBar.tsx';
import type { Edit } from '../../chat/talk.ts';
import { statsOf } from '../../chat/turn.ts';
import { useThread } from '../../chat/use-thread.ts';
import { ViewSwitch } from '../../chat/ViewSwitch.tsx';
import { models } from '../../data/agents.ts';
import { object, optional, text } from '../../data/guard.ts';
import { useMay } from '../../data/identity.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Id } from '../../design/Copy.tsx';
import { toastError } from '../../feedback/toasts.ts';
import { askInFork, forkThread, readBack } from '../../fork/fork.ts';
import { locale, useTexts } from '../../i18n/locale.ts';
import { ChartToggle } from '../../live-charts/ChartToggle.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { threadHref } from '../../run-records/run.ts';
import { useModelOf } from '../../sandbox/use-is-scripted.ts';
import css from './Playground.module.css';
import { suggestionsFor } from './suggestions.ts';
import texts from './texts.json' with { type: 'json' };
import { useEarlier } from './use-earlier.ts';

const AgentRecord = object({ id: text, model_id: optional(text), description: optional(text) });
type AgentRecord = ReturnType<typeof AgentRecord>;

const AGENTS = recordsOf('agents', AgentRecord);

const Empty = (props: { agent: AgentRecord; isScripted: boolean; onAsk: (prompt: string) => void }) => {
  const t = useTexts(texts);
  const { agent, isScripted, onAsk } = props;
  const prompts = suggestionsFor({ ...agent, isScripted }, useAtom(locale), {
    hello: t('prompt.hello'),
    abilities: t('prompt.abilities'),
    example: (purpose) => t('prompt.example', { purpose }),
  });
  return (
    <div className={`stack offers ${css.start}`}>
      <h2>{t('empty.title', { agent: agent.id })}</h2>
      {agent.description && <p className="soft">{agent.description}</p>}
      {prompts.map((prompt) => (
        <Button key={prompt} onClick={() => onAsk(prompt)}>
          {prompt}
        </Button>
      ))}
    </div>
  );
};

/** The list of threads changes with the first message, and their order with each response. */
const useMovedThreads = (isBusy: boolean): void => {
  const was = useRef(isBusy);
  useEffect(() => {
    if (was.current !== isBusy) invalidate('/v1/threads/summaries');
    was.current = isBusy;
  }, [isBusy]);
};

export const Talk = (props: {
  agentId: string;
  threadId: string;
  tools: readonly ClientTool[];
  chart: [isShown: boolean, show: (isShown: boolean) => void];
  onSend: () => void;
  onOpen: (threadId: string) => void;
}) => {
  const t = useTexts(texts);
  const { agentId, threadId, chart, onOpen } = props;
  const [view, setView] = useState<View>('readable');
  const talk = useThread(props);
  const { messages, isBusy, isLoaded } = talk;
  const isReader = useMay()(['observe']);
  const records = useResource(AGENTS, isReader).data;
  // Other users read no more of an agent than its description.
  const described = useResource(models, !isReader).data;
  const agent = records?.find(({ id }) => id === agentId);
  const { isScripted, providers } = useModelOf(agent?.model_id ?? '');
  const earlier = useEarlier(threadId, talk);
  useMovedThreads(isBusy);
  const stats = useMemo(() => statsOf(messages), [messages]);
  const last = useLastPrompt(messages);
  const fork: Edit = async (messageId, said, files) => {
    try {
      const edited = await readBack(threadId, ({ id }) => id === messageId);
      const made = await forkThread(threadId, (edited?.seq ?? 1) - 1);
      await askInFork({ threadId: made, agentId, said, files });
      onOpen(made);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <section className={`card column ${css.talk}`} aria-label={t('conversation')}>
      <div className={`row bar ${css.bar}`}>
        <ViewSwitch view={view} onChange={setView} />
        <ScreenLink to={threadHref(threadId)}>{t('common.thread')}</ScreenLink>
        <span className="cut">
          <Id id={threadId} />
        </span>
        <span className="push" />
        {isScripted && <Chip title={t('scripted.hint')}>{t('scripted')}</Chip>}
        <ChartToggle isShown={chart[0]} onChange={chart[1]} />
      </div>
      <Conversation
        talk={{ ...talk, fork }}
        view={view}
        earlier={earlier}
        provider={providers.length === 1 ? providers[0] : undefined}
        empty={
          isLoaded && (
            <Empty
              agent={
                agent ?? {
                  id: agentId,
                  model_id: undefined,
                  description: described?.find(({ id }) => id === agentId)?.description,
                }
              }
              isScripted={isScripted}
              onAsk={(prompt) => talk.send(prompt, [])}
            />
          )
        }
      />
      <div className="foot">
        <Composer isBusy={isBusy} last={last} onSend={talk.send} onStop={talk.stop} />
      </div>
      <StatsBar stats={stats} />
    </section>
  );
};
