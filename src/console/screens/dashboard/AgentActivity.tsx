import { type ReactNode, useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { runtimeStats } from '../../data/resources.ts';
import { Card, Stat } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { type Activity, activityOf, type Totals } from './activity.ts';
import css from './Dashboard.module.css';
import { texts } from './texts.ts';

/** From where on errors are more than chance. */
const MANY_ERRORS = 0.05;

const Numbers = ({ totals }: { totals: Totals }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { errorShare, costUsd, p50, p95 } = totals;
  const latency = (ms: number | undefined): string => (ms === undefined ? '—' : format.duration(ms));
  return (
    <div className={css.numbers}>
      <Stat label={t('activity.inferences')} value={format.compact(totals.inferences)} />
      <Stat
        label={t('activity.errors')}
        value={format.percent(errorShare)}
        tone={errorShare >= MANY_ERRORS ? 'warn' : undefined}
      />
      <Stat label={t('activity.input')} value={format.compact(totals.inputTokens)} />
      <Stat label={t('activity.output')} value={format.compact(totals.outputTokens)} />
      <Stat
        label={t('activity.cost')}
        value={
          <span title={costUsd === undefined ? t('activity.costNote') : undefined}>
            {costUsd === undefined ? t('activity.na') : format.usd(costUsd)}
          </span>
        }
      />
      <Stat
        label={<span title={t('activity.latencyNote')}>{t('activity.latency')}</span>}
        value={`${latency(p50)} · ${latency(p95)}`}
      />
      <Stat label={t('activity.suspensions')} value={format.number(totals.suspensions)} />
      <Stat label={t('activity.handoffs')} value={format.number(totals.handoffs)} />
      <Stat label={t('activity.delegations')} value={format.number(totals.delegations)} />
    </div>
  );
};

const Top = (props: {
  title: string;
  rows: readonly { id: string; href: string; count: number; bad: ReactNode }[];
}) => {
  const format = useFormat();
  const most = Math.max(1, ...props.rows.map(({ count }) => count));
  return (
    <section>
      <h3>{props.title}</h3>
      {props.rows.length === 0 && <span className={css.quiet}>—</span>}
      <ol>
        {props.rows.map(({ id, href, count, bad }) => (
          <li key={id} className={css.top}>
            <ScreenLink to={href} title={id}>
              {id}
            </ScreenLink>
            <div className={css.meter}>
              <div style={{ width: `${(count / most) * 100}%` }} />
            </div>
            <span className={css.count}>
              {bad}
              {format.number(count)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
};

const Shown = ({ activity }: { activity: Activity }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { totals, windows, topAgents, topTools } = activity;
  const failed = (count: number, failures: number): ReactNode =>
    failures > 0 && (
      <span className={css.bad}>{t('activity.failed', { share: format.percent(failures / count) })} · </span>
    );
  if (topAgents.length === 0) return <p className={css.quiet}>{t('activity.none')}</p>;
  return (
    <>
      {totals ? (
        <Numbers totals={totals} />
      ) : (
        <Notice
          plain
          title={t('activity.mixed', { windows: windows.map((s) => format.duration(s * 1000)).join(', ') })}
        />
      )}
      <div className={css.tops}>
        <Top
          title={t('activity.topAgents')}
          rows={topAgents.map((agent) => ({
            id: agent.agent_id,
            href: `/agents/${encodeURIComponent(agent.agent_id)}/dashboard`,
            count: agent.inference_count,
            bad: failed(agent.inference_count, agent.error_count),
          }))}
        />
        <Top
          title={t('activity.topTools')}
          rows={topTools.map(({ tool, calls, failures }) => ({
            id: tool,
            href: `/tools/${encodeURIComponent(tool)}`,
            count: calls,
            bad: failed(calls, failures),
          }))}
        />
      </div>
    </>
  );
};

export const AgentActivity = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(runtimeStats);
  const activity = useMemo(() => activityOf(query.data?.agents ?? []), [query.data]);
  const [seconds] = activity.windows;
  const note = activity.windows.length === 1 && seconds !== undefined;
  return (
    <Card
      className={css.eight}
      title={t('activity.title')}
      note={note ? t('activity.window', { duration: format.duration(seconds * 1000) }) : undefined}
    >
      <Loaded query={query} off={runtimeStats.off} plain>
        {() => <Shown activity={activity} />}
      </Loaded>
    </Card>
  );
};
