import { lazy, Suspense, useState } from 'react';
import { type ClientTool, storedTools } from '../../chat/client-tools.ts';
import { firstAgent, useAgentIds } from '../../data/agents.ts';
import { KEYS, readJson, writeKey } from '../../data/storage.ts';
import { Button } from '../../design/Button.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useChartShown } from '../../live-charts/ChartToggle.tsx';
import css from './Playground.module.css';
import { RecentThreads } from './RecentThreads.tsx';
import { Talk } from './Talk.tsx';
import texts from './texts.json' with { type: 'json' };

/** The client tools of this browser, shared by all agents. */
const useClientTools = () => {
  const [tools, show] = useState(() => storedTools(readJson(KEYS.playgroundTools)));
  const setTools = (after: ClientTool[]): void => {
    writeKey(KEYS.playgroundTools, after.length === 0 ? null : JSON.stringify(after));
    show(after);
  };
  return { tools, setTools };
};

const ThreadChart = lazy(() => import('../../live-charts/ThreadChart.tsx'));
const CodeDrawer = lazy(() => import('./CodeDrawer.tsx'));

const newThread = (): string => crypto.randomUUID();

/** The agent and the thread. Both are in the address, the thread once it has a message. */
const usePlace = () => {
  const [query, change] = useQueryState();
  const [fresh, setFresh] = useState(newThread);
  const known = useAgentIds();
  return {
    agentId: query.agent ?? firstAgent(known) ?? 'default',
    agents: known,
    threadId: query.thread ?? fresh,
    keep: () => change({ thread: query.thread ?? fresh }),
    choose: (agent: string) => change({ agent }),
    open: (thread: string, agent?: string) => change({ thread, ...(agent && { agent }) }),
    begin() {
      setFresh(newThread());
      change({ thread: undefined });
    },
  };
};

export default function Playground() {
  const t = useTexts(texts);
  const place = usePlace();
  const { agentId, threadId } = place;
  const { tools, setTools } = useClientTools();
  const chart = useChartShown();
  const [isCodeOpen, setCodeOpen] = useState(false);
  const options = [...new Set([agentId, ...place.agents])].sort();
  return (
    <div className={`column ${css.screen}`}>
      <header className={`row fixed ${css.head}`}>
        <h1>{t('title')}</h1>
        <FilterSelect
          label={t('common.agent')}
          value={agentId}
          options={options.map((id) => [id, id])}
          onChange={place.choose}
        />
        <Button icon="tools" onClick={() => setCodeOpen(true)}>
          {t('code')}
        </Button>
        <Button icon="plus" onClick={place.begin}>
          {t('new')}
        </Button>
      </header>
      <div className={`columns ${css.columns}`} data-chart={chart[0] || undefined}>
        <RecentThreads threadId={threadId} onOpen={place.open} />
        <Talk
          key={threadId}
          agentId={agentId}
          threadId={threadId}
          tools={tools}
          chart={chart}
          onSend={place.keep}
          onOpen={place.open}
        />
        {chart[0] && (
          <Suspense fallback={<SkeletonRows rows={4} />}>
            <ThreadChart key={threadId} threadId={threadId} />
          </Suspense>
        )}
      </div>
      {isCodeOpen && (
        <Suspense>
          <CodeDrawer
            agentId={agentId}
            threadId={threadId}
            tools={tools}
            onTools={setTools}
            onClose={() => setCodeOpen(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
