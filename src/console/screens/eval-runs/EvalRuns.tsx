import { useMemo } from 'react';
import { buttonLook } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Bars } from '../../design/Sparkline.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import css from './EvalRuns.module.css';
import { durationOf, nameOf, OFF, obstacleOf, passRates, type RunSummary, useEvalRuns } from './runs.ts';
import texts from './texts.json' with { type: 'json' };

const PassBar = ({ run }: { run: RunSummary }) => {
  const format = useFormat();
  const { passed_count: passed, item_count: items } = run;
  return (
    <span className={css.pass}>
      <progress value={passed} max={Math.max(1, items)} aria-hidden="true" />
      {format.number(passed)} / {format.number(items)}
    </span>
  );
};

const columnsOf: ColumnsOf<RunSummary, keyof typeof texts> = (t, format) => [
  {
    id: 'run',
    always: true,
    value: (run) => nameOf(run, t, format.moment),
    text: (run) => `${run.models.join(' ')} ${run.id}`,
    cell: (run, mark) => <span title={run.id}>{mark(nameOf(run, t, format.moment))}</span>,
  },
  {
    id: 'dataset',
    value: (run) => run.dataset_id,
    cell: (run) => (
      <>
        <ScreenLink to={`/datasets/${encodeURIComponent(run.dataset_id)}`}>{run.dataset_id}</ScreenLink>
        <span className="quiet">@{run.dataset_revision}</span>
      </>
    ),
  },
  { id: 'mode', value: (run) => t(run.execution_mode === 'live' ? 'mode.live' : 'mode.scripted') },
  {
    id: 'passed',
    value: (run) => (run.item_count === 0 ? 0 : run.passed_count / run.item_count),
    text: () => '',
    cell: (run) => <PassBar run={run} />,
  },
  {
    id: 'failed',
    align: 'end',
    value: (run) => run.failed_count,
    cell: (run) => (
      <span className={run.failed_count > 0 ? 'bad' : 'quiet'}>{format.number(run.failed_count)}</span>
    ),
  },
  {
    id: 'duration',
    align: 'end',
    value: durationOf,
    text: () => '',
    cell: (run) => {
      const ms = durationOf(run);
      if (ms !== undefined) return format.duration(ms);
      return <Chip tone="info">{t(run.status === 'cancelled' ? 'cancelled' : 'running')}</Chip>;
    },
  },
  { id: 'started', at: (run) => run.started_at_secs },
];

const NEWEST_FIRST = { id: 'started', direction: 'desc' } as const;

export default function EvalRuns() {
  const t = useTexts(texts);
  const format = useFormat();
  const go = useGo();
  const [{ dataset }] = useQueryState();
  const query = useEvalRuns();
  const all = query.data ?? [];
  const filterBy = useMemo((): Filter[] => {
    const ids = [...new Set(all.map(({ dataset_id }) => dataset_id))].sort();
    return [
      { key: 'dataset', kind: 'choice', label: t('column.dataset'), options: ids.map((id) => [id, id]) },
    ];
  }, [all, t]);
  const shown = useMemo(
    () => all.filter(({ dataset_id }) => dataset === undefined || dataset_id === dataset),
    [all, dataset],
  );
  const compare = ([newer, older, ...more]: readonly RunSummary[]): void => {
    const obstacle = newer && older && more.length === 0 ? obstacleOf(newer, older) : 'count';
    if (!newer || !older || obstacle !== undefined) {
      toast(
        'info',
        t(obstacle === undefined || obstacle === 'count' ? 'compare.two' : `obstacle.${obstacle}`),
      );
      return;
    }
    const [first, second] = newer.started_at_secs < older.started_at_secs ? [newer, older] : [older, newer];
    go(`/eval-runs/${encodeURIComponent(second.id)}?baseline=${encodeURIComponent(first.id)}`);
  };
  return (
    <ListScreen
      name="eval-runs"
      texts={texts}
      query={query}
      off={OFF}
      rows={shown}
      count={query.data && format.number(all.length)}
      columns={columnsOf}
      rowId={({ id }) => id}
      rowHref={({ id }) => `/eval-runs/${encodeURIComponent(id)}`}
      usualSort={NEWEST_FIRST}
      bulk={[{ label: t('compare'), run: compare }]}
      filterBy={filterBy}
      controls={
        dataset !== undefined && <Bars values={passRates(all, dataset)} label={t('trend', { dataset })} />
      }
      first={
        <ScreenLink to="/datasets" className={buttonLook}>
          {t('empty.action')}
        </ScreenLink>
      }
    />
  );
}
