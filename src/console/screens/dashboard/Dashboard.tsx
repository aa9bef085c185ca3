import css from '../../activity/Activity.module.css';
import { Charts } from '../../activity/Charts.tsx';
import { RangeBar, useRange } from '../../activity/RangeBar.tsx';
import { before, type Range, sinceAndUntil } from '../../activity/range.ts';
import { statsIn } from '../../activity/stats.ts';
import { AgentTable, ModelTable, ToolTable } from '../../activity/Tables.tsx';
import { statusOf } from '../../data/error.ts';
import { list, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { Card, Page } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { Ago } from '../../design/Time.tsx';
import { GettingStarted } from '../../getting-started/GettingStarted.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { ActionChip } from '../audit-log/ActionChip.tsx';
import { actorParts } from '../audit-log/audit-event.ts';
import { hrefOf } from '../audit-log/audited-resource.ts';
import { Needs } from './Needs.tsx';
import { FailedRuns, OpenRuns } from './RunRows.tsx';
import texts from './texts.json' with { type: 'json' };

const Lines = object({
  items: list(object({ id: text, ts: text, actor: text, action: text, resource: text })),
  next_cursor: optional(text),
});

const MOST_SHOWN = 6;

const changesIn = (range: Range): Resource<ReturnType<typeof Lines>> => ({
  path: '/v1/audit-log',
  query: { limit: 50, ...sinceAndUntil(range, Date.now()) },
  guard: Lines,
  off: { statuses: [404, 503], setting: 'SERVICE_AUDIT_LOG_ENABLED' },
  every: 30_000,
  keeps: true,
});

const Recent = ({ className }: { className?: string | undefined }) => {
  const t = useTexts(texts);
  const resource = changesIn(useRange().range);
  return (
    <Card
      className={className}
      flush
      title={t('recent.title')}
      actions={<ScreenLink to="/audit-log">{t('common.auditLog')}</ScreenLink>}
    >
      <Loaded query={useResource(resource)} off={resource.off} plain>
        {({ items }) => (
          <ul className="divided">
            {items.length === 0 && <li className={`item quiet ${css.line}`}>{t('recent.none')}</li>}
            {items.slice(0, MOST_SHOWN).map(({ id, ts, actor, action, resource: place }) => (
              <li key={id} className={`item ${css.line}`}>
                <ActionChip action={action} />
                <span className="grow cut">
                  <ScreenLink to={hrefOf(place)}>{place}</ScreenLink>
                </span>
                <span className="quiet" title={actor}>
                  {actorParts(actor).label || actorParts(actor).short}
                </span>
                <Ago at={ts} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
};

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
