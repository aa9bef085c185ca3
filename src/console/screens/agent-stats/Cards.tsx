import { useMemo } from 'react';
import { Card, Facts, Stat } from '../../design/Layout.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './AgentStats.module.css';
import { Histogram } from './Histogram.tsx';
import { type Snapshot, shareOfChange } from './snapshot.ts';
import { texts } from './texts.ts';

/** From where on errors are more than chance. */
const MANY_ERRORS = 0.05;

type Shown = { label: string; value: string; now: number; before: number | undefined; warn?: boolean };

const useNote = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const [{ compare: window = '' }] = useQueryState();
  return (now: number, before: number | undefined): string | undefined => {
    if (before === undefined) return undefined;
    if (now === before) return t('change.same', { window });
    const share = shareOfChange(before, now);
    if (share === undefined) return t('change.none', { window });
    return t(share < 0 ? 'change.less' : 'change.more', { share: format.percent(Math.abs(share)), window });
  };
};

const Stats = ({ rows }: { rows: readonly Shown[] }) => {
  const noteOf = useNote();
  return (
    <div className={css.numbers}>
      {rows.map(({ label, value, now, before, warn }) => {
        const note = noteOf(now, before);
        return (
          <Stat
            key={label}
            label={label}
            value={value}
            tone={warn ? 'warn' : undefined}
            {...(note !== undefined && { note })}
          />
        );
      })}
    </div>
  );
};

const errorShare = ({ error_count: errors, inference_count: all }: Snapshot): number =>
  all === 0 ? 0 : errors / all;

const NONE_LOST = { input_tokens: 0, output_tokens: 0 };

export const Numbers = (props: { snapshot: Snapshot; other: Snapshot | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { snapshot, other } = props;
  const counted = (field: 'inference_count' | 'input_tokens' | 'output_tokens'): Shown => ({
    label: t(field),
    value: format.number(snapshot[field]),
    now: snapshot[field],
    before: other?.[field],
  });
  const timed = (field: 'p50' | 'p95' | 'p99'): Shown => ({
    label: t(field),
    value: format.duration(snapshot[`${field}_inference_duration_ms`]),
    now: snapshot[`${field}_inference_duration_ms`],
    before: other?.[`${field}_inference_duration_ms`],
  });
  const { cost_usd: cost, cut_off: lost = NONE_LOST } = snapshot;
  const lostBefore = other && (other.cut_off ?? NONE_LOST);
  const share = errorShare(snapshot);
  return (
    <Card title={t('inferences')}>
      <Stats
        rows={[
          counted('inference_count'),
          {
            label: t('errors'),
            value: `${format.number(snapshot.error_count)} · ${format.percent(share)}`,
            now: share,
            before: other && errorShare(other),
            warn: share >= MANY_ERRORS,
          },
          counted('input_tokens'),
          counted('output_tokens'),
          {
            label: t('cut_off'),
            value: `≈ ${format.number(lost.input_tokens)} / ${format.number(lost.output_tokens)}`,
            now: lost.input_tokens + lost.output_tokens,
            before: lostBefore && lostBefore.input_tokens + lostBefore.output_tokens,
          },
          {
            label: t('cost'),
            value: cost === undefined ? t('cost.unknown') : format.usd(cost),
            now: cost ?? 0,
            before: other?.cost_usd,
          },
          timed('p50'),
          timed('p95'),
          timed('p99'),
        ]}
      />
    </Card>
  );
};

export const Latency = ({ snapshot }: { snapshot: Snapshot }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const lines = useMemo(
    () =>
      (['p50', 'p95', 'p99'] as const).map((label) => ({
        label,
        ms: snapshot[`${label}_inference_duration_ms`],
      })),
    [snapshot],
  );
  return (
    <Card title={t('latency')} note={t('latency.note')}>
      {snapshot.inference_duration_histogram.length === 0 ? (
        <p className={css.note}>{t('latency.none')}</p>
      ) : (
        <>
          <Histogram buckets={snapshot.inference_duration_histogram} lines={lines} />
          <p className={css.note}>
            {t('latency.range', {
              min: format.duration(snapshot.min_inference_duration_ms),
              avg: format.duration(snapshot.avg_inference_duration_ms),
              max: format.duration(snapshot.max_inference_duration_ms),
            })}
          </p>
        </>
      )}
    </Card>
  );
};

export const Coordination = ({ snapshot, other }: { snapshot: Snapshot; other: Snapshot | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const noteOf = useNote();
  return (
    <Card title={t('coordination')}>
      <Facts
        rows={(['suspensions', 'handoffs', 'delegations'] as const).map((field) => [
          t(field),
          <span key={field} className={css.figure}>
            {format.number(snapshot[field])}{' '}
            <span className={css.note}>{noteOf(snapshot[field], other?.[field])}</span>
          </span>,
        ])}
      />
    </Card>
  );
};
