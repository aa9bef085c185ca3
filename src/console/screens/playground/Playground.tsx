import { useMemo, useState } from 'react';
import { Composer } from '../../chat/Composer.tsx';
import { Conversation, useLastPrompt } from '../../chat/Conversation.tsx';
import type { View } from '../../chat/Message.tsx';
import { StatsBar } from '../../chat/StatsBar.tsx';
import { statsOf } from '../../chat/turn.ts';
import { ViewSwitch } from '../../chat/ViewSwitch.tsx';
import { type Guarded, object, optional, text } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { capabilities } from '../../data/resources.ts';
import { Button } from '../../design/Button.tsx';
import { Id } from '../../design/Copy.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Card } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useIsScripted } from '../../sandbox/use-is-scripted.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { Snippets } from '../../snippets/Snippets.tsx';
import { ClientTools } from './ClientTools.tsx';
import type { ClientTool } from './client-tools.ts';
import css from './Playground.module.css';
import { RecentThreads } from './RecentThreads.tsx';
import { texts } from './texts.ts';
import { useClientTools } from './use-client-tools.ts';
import { useThread } from './use-thread.ts';

const AgentRecord = object({ id: text, model_id: optional(text) });
type AgentRecord = Guarded<typeof AgentRecord>;

const agentModel = (agents: readonly AgentRecord[] | undefined, id: string): string =>
  agents?.find((agent) => agent.id === id)?.model_id ?? '';

const newThread = (): string => crypto.randomUUID();

/** Which agent and which thread: both are in the address, the thread once something was said on it. */
const usePlace = () => {
  const [query, change] = useQueryState();
  const [fresh, setFresh] = useState(newThread);
  const known = useResource(capabilities).data?.agents ?? [];
  return {
    agentId: query.agent ?? (known.includes('default') ? 'default' : (known[0] ?? 'default')),
    agents: known,
    threadId: query.thread ?? fresh,
    keep: () => change({ thread: query.thread ?? fresh }),
    choose: (agent: string) => change({ agent }),
    open: (thread: string, agent: string | undefined) => change({ thread, ...(agent && { agent }) }),
    begin() {
      setFresh(newThread());
      change({ thread: undefined });
    },
  };
};

const Talk = (props: {
  agentId: string;
  threadId: string;
  tools: readonly ClientTool[];
  onSend: () => void;
}) => {
  const t = useTexts(texts);
  const [view, setView] = useState<View>('readable');
  const talk = useThread(props);
  const agents = useResource(recordsOf('agents', AgentRecord)).data;
  const isScripted = useIsScripted(agentModel(agents, props.agentId));
  const stats = useMemo(() => statsOf(talk.messages), [talk.messages]);
  const last = useLastPrompt(talk.messages);
  return (
    <section className={css.talk} aria-label={t('conversation')}>
      <div className={css.bar}>
        <ViewSwitch view={view} onChange={setView} />
        <span className={css.thread}>
          <ScreenLink to={`/threads/${encodeURIComponent(props.threadId)}`}>{t('thread')}</ScreenLink>
          <Id id={props.threadId} />
        </span>
        {isScripted && <span className={css.note}>{t('scripted')}</span>}
      </div>
      <Conversation
        talk={talk}
        view={view}
        empty={
          talk.isLoaded && (
            <EmptyState title={t('empty.title', { agent: props.agentId })}>{t('empty.text')}</EmptyState>
          )
        }
      />
      <div className={css.composer}>
        <Composer isBusy={talk.isBusy} last={last} onSend={talk.send} onStop={talk.stop} />
      </div>
      <StatsBar stats={stats} />
    </section>
  );
};

const Playground = () => {
  const t = useTexts(texts);
  const place = usePlace();
  const { agentId, threadId } = place;
  const { tools, setTools } = useClientTools();
  const options = [...new Set([agentId, ...place.agents])].sort();
  const begin = (): void => {
    invalidate('/v1/threads/summaries');
    place.begin();
  };
  return (
    <div className={css.screen}>
      <header className={css.head}>
        <h1>{t('title')}</h1>
        <FilterSelect
          label={t('agent')}
          value={agentId}
          options={options.map((id) => [id, id])}
          onChange={place.choose}
        />
        <Button icon="plus" onClick={begin}>
          {t('new')}
        </Button>
      </header>
      <div className={css.columns}>
        <Talk key={threadId} agentId={agentId} threadId={threadId} tools={tools} onSend={place.keep} />
        <div className={css.side}>
          <ClientTools tools={tools} onChange={setTools} />
          <Card title={t('snippets')}>
            <Snippets agentId={agentId} threadId={threadId} />
          </Card>
          <RecentThreads threadId={threadId} onOpen={place.open} />
        </div>
      </div>
    </div>
  );
};

export default Playground;
