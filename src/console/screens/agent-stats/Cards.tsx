import { Change } from '../../activity/Charts.tsx';
import { StatTable } from '../../activity/StatTable.tsx';
import type { AgentStats } from '../../data/resources.ts';
import { Card, Stat } from '../../design/Layout.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const counted = ['error_count', 'suspensions', 'handoffs', 'delegations'] as const;
const times = ['avg', 'min', 'max', 'p99'] as const;

/** Figures that the charts do not show. */
export const Numbers = ({ agent, before }: { agent: AgentStats; before: AgentStats | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const stat = (label: string, value: (one: AgentStats) => number, text: (value: number) => string) => (
    <Stat
      key={label}
      label={label}
      value={text(value(agent))}
      note={<Change now={value(agent)} before={before && value(before)} />}
    />
  );
  const bucket = format.duration(agent.bucket_window_seconds * 1000);
  return (
    <Card title={t('numbers')} note={t('window.is', { count: agent.bucket_count, bucket })}>
      <div className="tiles">
        {counted.map((field) => stat(t(field), (one) => one[field], format.number))}
        {times.map((name) =>
          stat(t(`latency.${name}`), (one) => one[`${name}_inference_duration_ms`], format.duration),
        )}
        {(['input', 'output'] as const).map((way) =>
          stat(
            t(`cut_off.${way}`),
            (one) => one.cut_off?.[`${way}_tokens`] ?? 0,
            (value) => `≈ ${format.number(value)}`,
          ),
        )}
      </div>
    </Card>
  );
};

/** The distribution of durations, from the shortest to the longest that occurred. */
export const Durations = ({ agent }: { agent: AgentStats }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const all = agent.inference_duration_histogram;
  const occurs = ({ count }: (typeof all)[number]): boolean => count > 0;
  const buckets = all.slice(Math.max(0, all.findIndex(occurs)), all.findLastIndex(occurs) + 1);
  const nameOf = (ms: number): string =>
    Number.isFinite(ms) ? t('upTo', { duration: format.duration(ms) }) : t('longer');
  return (
    <Card title={t('durations')} flush>
      <StatTable
        label={t('durations')}
        none={t('durations.none')}
        most={buckets.length}
        rows={buckets}
        rowId={({ upper_bound_ms: bound }) => String(bound)}
        columns={(column) => [
          column(t('duration'), ({ upper_bound_ms: bound }) => bound ?? Number.POSITIVE_INFINITY, nameOf),
          column(t('common.inferences'), ({ count }) => count, format.number, 'bar'),
        ]}
      />
    </Card>
  );
};
