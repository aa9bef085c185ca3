import { useParams } from '@tanstack/react-router';
import { Charts } from '../../activity/Charts.tsx';
import { RangeBar, useRange } from '../../activity/RangeBar.tsx';
import { before, type Range } from '../../activity/range.ts';
import { statsOfAgent } from '../../activity/stats.ts';
import { ModelTable, ToolTable } from '../../activity/Tables.tsx';
import { useResource } from '../../data/queries.ts';
import { runtimeStats } from '../../data/resources.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { Needs } from '../dashboard/Needs.tsx';
import { FailedRuns } from '../dashboard/RunRows.tsx';
import { Durations, Numbers } from './Cards.tsx';
import texts from './texts.json' with { type: 'json' };

/** The dashboard of one agent, with the figures that only an agent has. */

const Shown = ({ id, range }: { id: string; range: Range }) => {
  const { isCompared, select } = useRange();
  const resource = statsOfAgent(id, range);
  const previous = useResource(statsOfAgent(id, before(range, Date.now())), isCompared).data;
  const earlier = isCompared ? previous?.agents[0] : undefined;
  return (
    <Loaded query={useResource(resource)} off={resource.off}>
      {(stats) =>
        stats.agents.map((agent) => (
          <div key={id} className="stack" data-wide>
            <Needs agent={id} />
            <Charts stats={stats} before={earlier} onSelect={select} />
            <Numbers agent={agent} before={earlier} />
            <div className="halves">
              <Durations agent={agent} />
              <div className="stack" data-wide>
                <FailedRuns agent={id} />
                <ModelTable stats={stats} />
              </div>
            </div>
            <ToolTable stats={stats} />
          </div>
        ))
      }
    </Loaded>
  );
};

/** The statistics are requested only if the list of all agents contains the agent. */
export default function AgentStats() {
  const t = useTexts(texts);
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const { range } = useRange();
  return (
    <Page
      title={t('title', { id })}
      purpose={t('purpose')}
      actions={
        <>
          <RangeBar />
          <ScreenLink to={`/agents/${encodeURIComponent(id)}`} className={buttonLook}>
            {t('edit')}
          </ScreenLink>
        </>
      }
    >
      <Loaded query={useResource(runtimeStats)} off={runtimeStats.off}>
        {({ agents }) =>
          agents.some(({ agent_id }) => agent_id === id) ? (
            <Shown id={id} range={range} />
          ) : (
            <EmptyState title={t('empty')}>{t('empty.text')}</EmptyState>
          )
        }
      </Loaded>
    </Page>
  );
}
