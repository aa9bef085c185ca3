import { useMemo } from 'react';
import { Ago } from '../../design/Time.tsx';
import { type Say, useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import type { Direction } from '../../list/order.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { RunDuration, RunOutcome, RunWords, shortId } from '../../run-records/RunChip.tsx';
import { durationOf, type Run, reasonOf, threadHref } from '../../run-records/run.ts';
import { SORTS } from './query.ts';
import css from './Runs.module.css';
import { texts } from './texts.ts';

type Format = ReturnType<typeof useFormat>;
type Translate = Say<keyof typeof texts.en>;

/** Columns that identify the run. */
const identityColumns = (t: Translate): Column<Run>[] => [
  {
    id: 'run',
    label: t('column.input'),
    always: true,
    shortened: true,
    value: (run) => run.preview ?? run.run_id,
    cell: (run, mark) => (
      <span data-testid={`run-row-${run.run_id}`}>
        <RunWords run={run} mark={mark} />
      </span>
    ),
  },
  {
    id: 'status',
    label: t('column.status'),
    shortened: 'chip',
    value: (run) => run.status,
    text: (run) => reasonOf(run)?.detail ?? '',
    cell: (run) => <RunOutcome run={run} />,
  },
  {
    id: 'agent',
    label: t('column.agent'),
    shortened: true,
    value: (run) => run.agent_id,
    cell: (run, mark) => (
      <ScreenLink to={`/agents/${encodeURIComponent(run.agent_id)}`}>{mark(run.agent_id)}</ScreenLink>
    ),
  },
  {
    id: 'thread',
    label: t('column.thread'),
    isExtra: true,
    value: (run) => run.thread_id,
    cell: (run) => (
      <ScreenLink to={threadHref(run.thread_id)} title={run.thread_id} className={css.id}>
        {shortId(run.thread_id)}
      </ScreenLink>
    ),
  },
];

/** Columns with the times, tokens and costs of the run. */
const figureColumns = (t: Translate, format: Format, isByChange: boolean): Column<Run>[] => [
  {
    id: 'began',
    label: t('column.began'),
    isExtra: isByChange,
    value: (run) => run.created_at,
    cell: (run) => <Ago at={run.created_at} />,
  },
  {
    id: 'changed',
    label: t('column.changed'),
    isExtra: !isByChange,
    value: (run) => run.updated_at,
    cell: (run) => <Ago at={run.updated_at} />,
  },
  {
    id: 'took',
    label: t('column.took'),
    align: 'end',
    value: (run) => durationOf(run, Date.now()),
    cell: (run) => <RunDuration run={run} />,
  },
  {
    id: 'steps',
    label: t('column.steps'),
    align: 'end',
    value: (run) => run.steps,
    cell: (run) => format.number(run.steps),
  },
  {
    id: 'tokens',
    label: t('column.tokens'),
    align: 'end',
    value: (run) => run.input_tokens + run.output_tokens,
    cell: (run) => `${format.compact(run.input_tokens)} / ${format.compact(run.output_tokens)}`,
  },
  {
    id: 'cost',
    label: t('column.cost'),
    align: 'end',
    value: (run) => run.cost_usd,
    cell: (run) => format.usd(run.cost_usd),
  },
];

const DIRECTIONS: readonly Direction[] = ['desc', 'asc'];

/** Only the orders that the service has. */
const sorted = (column: Column<Run>): Column<Run> => {
  const sorts = SORTS[column.id];
  return sorts
    ? { ...column, sorts: DIRECTIONS.filter((each) => sorts[each] !== undefined) }
    : { ...column, unsorted: true };
};

/** @param isByChange shows the time of the last change in the place of the start */
export const useRunColumns = (isByChange: boolean): Column<Run>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(
    () => [...identityColumns(t), ...figureColumns(t, format, isByChange)].map(sorted),
    [t, format, isByChange],
  );
};
