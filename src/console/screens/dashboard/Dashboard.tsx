import { Charts } from '../../activity/Charts.tsx';
import { RangeBar, useRange } from '../../activity/RangeBar.tsx';
import { before } from '../../activity/range.ts';
import { statsIn } from '../../activity/stats.ts';
import { AgentTable, ModelTable, ToolTable } from '../../activity/Tables.tsx';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { Page } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { GettingStarted } from '../../getting-started/GettingStarted.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { Needs } from './Needs.tsx';
import { Recent } from './Recent.tsx';
import { FailedRuns, OpenRuns } from './RunRows.tsx';
import texts from './texts.json' with { type: 'json' };

/** Required actions first, then the course of the range, the current runs, and figures by agent, tool and model. */
export default function Dashboard() {
  const t = useTexts(texts);
  const { range, isCompared, select } = useRange();
  const resource = statsIn(range);
  const query = useResource(resource);
  const previous = useResource(statsIn(before(range, Date.now())), isCompared).data?.course.total;
  const stats = query.data;
  if (statusOf(query.error) === 401)
    return (
      <Page title={t('title')} purpose={t('purpose')}>
        <ErrorBox error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    );
  return (
    <Page title={t('title')} purpose={t('purpose')} actions={<RangeBar keptSeconds={stats?.kept_seconds} />}>
      <GettingStarted />
      <Needs />
      <Loaded query={query} off={resource.off}>
        {(all) => <Charts stats={all} before={isCompared ? previous : undefined} onSelect={select} />}
      </Loaded>
      <div className="halves">
        <OpenRuns />
        <FailedRuns />
        {stats && <AgentTable stats={stats} />}
        {stats && <ToolTable stats={stats} isShort />}
        {stats && <ModelTable stats={stats} />}
        <Recent />
      </div>
    </Page>
  );
}
