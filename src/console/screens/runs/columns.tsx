import { useMemo } from 'react';
import { Ago, useNow } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { RunChip, RunReason, shortId } from '../../runs/RunChip.tsx';
import { durationOf, type Run, reasonOf, threadHref } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Runs.module.css';
import { texts } from './texts.ts';

const Took = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  // One that is in the queue has not begun to take any.
  if (run.status === 'created') return '—';
  const seconds = durationOf(run, now);
  return seconds < 1 ? t('took.short') : format.seconds(seconds);
};

export const useRunColumns = (): Column<Run>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(
    () => [
      {
        id: 'run',
        label: t('column.run'),
        always: true,
        value: (run) => run.run_id,
        cell: (run) => (
          <span className={css.id} title={run.run_id} data-testid={`run-row-${run.run_id}`}>
            {shortId(run.run_id)}
          </span>
        ),
      },
      {
        id: 'status',
        label: t('column.status'),
        value: (run) => run.status,
        cell: (run) => <RunChip run={run} />,
      },
      {
        id: 'agent',
        label: t('column.agent'),
        value: (run) => run.agent_id,
        cell: (run, mark) => (
          <ScreenLink to={`/agents/${encodeURIComponent(run.agent_id)}`}>{mark(run.agent_id)}</ScreenLink>
        ),
      },
      {
        id: 'why',
        label: t('column.why'),
        unsorted: true,
        value: (run) => reasonOf(run)?.kind,
        text: (run) => `${reasonOf(run)?.kind ?? ''} ${reasonOf(run)?.detail ?? ''}`,
        cell: (run) => <RunReason run={run} />,
      },
      {
        id: 'thread',
        label: t('column.thread'),
        value: (run) => run.thread_id,
        cell: (run) => (
          <ScreenLink to={threadHref(run.thread_id)} title={run.thread_id} className={css.id}>
            {shortId(run.thread_id)}
          </ScreenLink>
        ),
      },
      {
        id: 'began',
        label: t('column.began'),
        value: (run) => run.started_at ?? run.created_at,
        text: () => '',
        cell: (run) => <Ago at={run.started_at ?? run.created_at} />,
      },
      {
        id: 'took',
        label: t('column.took'),
        align: 'end',
        value: (run) => (run.status === 'created' ? undefined : durationOf(run, Date.now())),
        text: () => '',
        cell: (run) => <Took run={run} />,
      },
      {
        id: 'steps',
        label: t('column.steps'),
        align: 'end',
        value: (run) => run.steps,
        text: () => '',
        cell: (run) => format.number(run.steps),
      },
      {
        id: 'tokens',
        label: t('column.tokens'),
        align: 'end',
        value: (run) => run.input_tokens + run.output_tokens,
        text: () => '',
        cell: (run) => `${format.compact(run.input_tokens)} / ${format.compact(run.output_tokens)}`,
      },
      {
        id: 'cost',
        label: t('column.cost'),
        align: 'end',
        value: (run) => run.cost_usd,
        text: () => '',
        cell: (run) => (run.cost_usd === undefined ? '—' : format.usd(run.cost_usd)),
      },
    ],
    [t, format],
  );
};
