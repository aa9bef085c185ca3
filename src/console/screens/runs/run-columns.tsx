import { AGENT_CELL } from '../../list/columns.tsx';
import type { Direction } from '../../list/order.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { RunDuration, RunOutcome, RunWords, shortId } from '../../run-records/RunChip.tsx';
import { durationOf, type Run, reasonOf, threadHref } from '../../run-records/run.ts';
import { SORTS } from './query.ts';
import type texts from './texts.json';

/** @param isByChange shows the time of the last change in the place of the start */
const columnsOf =
  (isByChange: boolean): ColumnsOf<Run, keyof typeof texts> =>
  (_, format) => [
    {
      id: 'run',
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
      shortened: 'chip',
      value: (run) => run.status,
      text: (run) => reasonOf(run)?.detail ?? '',
      cell: (run) => <RunOutcome run={run} />,
    },
    { id: 'agent', ...AGENT_CELL },
    {
      id: 'thread',
      isExtra: true,
      value: (run) => run.thread_id,
      cell: (run) => (
        <ScreenLink to={threadHref(run.thread_id)} title={run.thread_id} className="mono">
          {shortId(run.thread_id)}
        </ScreenLink>
      ),
    },
    { id: 'began', isExtra: isByChange, at: (run) => run.created_at },
    { id: 'changed', isExtra: !isByChange, at: (run) => run.updated_at },
    {
      id: 'took',
      align: 'end',
      value: (run) => durationOf(run, Date.now()),
      cell: (run) => <RunDuration run={run} />,
    },
    { id: 'steps', align: 'end', value: (run) => run.steps, cell: (run) => format.number(run.steps) },
    {
      id: 'tokens',
      align: 'end',
      value: (run) => run.input_tokens + run.output_tokens,
      cell: (run) => `${format.compact(run.input_tokens)} / ${format.compact(run.output_tokens)}`,
    },
    { id: 'cost', align: 'end', value: (run) => run.cost_usd, cell: (run) => format.usd(run.cost_usd) },
  ];

const DIRECTIONS: readonly Direction[] = ['desc', 'asc'];

/** With only the orders that the service has. */
const sortedOf =
  (isByChange: boolean): ColumnsOf<Run, keyof typeof texts> =>
  (t, format) =>
    columnsOf(isByChange)(t, format).map((column) => {
      const sorts = SORTS[column.id];
      if (!sorts) return { ...column, unsorted: true };
      return { ...column, sorts: DIRECTIONS.filter((each) => sorts[each] !== undefined) };
    });

export const RUN_COLUMNS = { changed: sortedOf(true), began: sortedOf(false) };
