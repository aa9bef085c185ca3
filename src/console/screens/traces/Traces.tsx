import pMap from 'p-map';
import { anything } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { useNow } from '../../design/Time.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { FixtureDialog } from '../../fixtures/FixtureDialog.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { AGENT_CELL } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen, type RowItem } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useGo } from '../../navigation/links.tsx';
import { instantOf, useRunFilters } from '../../run-records/filters.ts';
import { RunDuration, RunOutcome, RunWords } from '../../run-records/RunChip.tsx';
import { runHref } from '../../run-records/run.ts';
import { type JoinedTrace, tookOf, tracePages } from '../../trace-records/traces.ts';
import texts from './texts.json' with { type: 'json' };

const traceHref = (id: string): string => `/traces/${encodeURIComponent(id)}`;

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return [
    ...useRunFilters(),
    { key: 'prompt', kind: 'text', label: t('filter.prompt') },
    { key: 'experiment', kind: 'text', label: t('filter.experiment') },
    { key: 'variant', kind: 'text', label: t('filter.variant') },
    { key: 'replays', kind: 'flag', label: t('filter.replays') },
  ];
};

type Key = keyof typeof texts;
type Translate = Say<Key>;

/** The outcome is that of the run, which may recover from failed calls; their number follows it. */
const Outcome = ({ trace: { run, tool_errors }, t }: { trace: JoinedTrace; t: Translate }) => {
  const errors = tool_errors > 0 ? t('toolErrors', { count: tool_errors }) : '';
  if (run) return <RunOutcome run={run} note={errors} />;
  return (
    <>
      <Chip tone="agent">{t('common.replay')}</Chip> {errors}
    </>
  );
};

// The service lists traces newest first only.
const columnsOf: ColumnsOf<JoinedTrace, Key> = (t, format) => [
  {
    id: 'run',
    always: true,
    shortened: true,
    unsorted: true,
    value: ({ run, run_id }) => run?.preview ?? run_id,
    cell: ({ run, run_id }, mark) => <RunWords run={run ?? { run_id, preview: undefined }} mark={mark} />,
  },
  {
    id: 'status',
    shortened: 'chip',
    unsorted: true,
    value: ({ run }) => run?.status,
    text: () => '',
    cell: (trace) => <Outcome trace={trace} t={t} />,
  },
  { id: 'agent', unsorted: true, ...AGENT_CELL },
  { id: 'started', unsorted: true, at: ({ started_at }) => started_at },
  {
    id: 'took',
    align: 'end',
    unsorted: true,
    value: tookOf,
    cell: (trace) => {
      if (trace.run) return <RunDuration run={trace.run} />;
      const took = tookOf(trace);
      return took === undefined ? '—' : format.seconds(took / 1000);
    },
  },
  {
    id: 'prompts',
    shortened: true,
    isExtra: true,
    unsorted: true,
    isCode: true,
    value: ({ prompt_ids }) => prompt_ids.join(' '),
  },
  {
    id: 'variant',
    shortened: true,
    unsorted: true,
    value: ({ experiment_id, variant_name }) =>
      [experiment_id, variant_name].filter((part) => part !== undefined).join(' · '),
  },
  {
    id: 'score',
    align: 'end',
    unsorted: true,
    value: ({ judge_score }) => judge_score,
    cell: ({ judge_score }) => (judge_score === undefined ? '—' : format.number(judge_score)),
  },
];

const pin = async (traces: readonly JoinedTrace[], t: Translate): Promise<void> => {
  const path = (id: string): string => pathOf`/v1/traces/${id}/pin`;
  try {
    await pMap(traces, ({ run_id }) => send({ method: 'POST', path: path(run_id) }, anything), {
      concurrency: 5,
    });
    toast('success', t('pinned', { count: traces.length }));
  } catch (error) {
    toastError(error);
  }
};

const useTraces = () => {
  const [address] = useQueryState();
  const { agent, prompt, experiment, variant, since, outcome, replays, q } = address;
  return usePages(
    tracePages({
      agent_id: agent,
      prompt_id: prompt,
      experiment_id: experiment,
      variant_name: variant,
      since: instantOf(since, useNow()),
      outcome,
      q,
      stored: replays === 'true' ? undefined : true,
    }),
  );
};

export default function Traces() {
  const t = useTexts(texts);
  const go = useGo();
  const compare = ([one, other]: readonly JoinedTrace[]): void => {
    if (one && other) go(`${traceHref(one.run_id)}?with=${encodeURIComponent(other.run_id)}`);
  };
  const menu = (trace: JoinedTrace): (RowItem | false)[] => [
    { label: t('menu.trace'), icon: 'traces', act: traceHref(trace.run_id) },
    trace.run !== undefined && { label: t('common.openRun'), icon: 'runs', act: runHref(trace.run_id) },
    {
      label: t('menu.fixture'),
      icon: 'datasets',
      dialog: (close) => <FixtureDialog runId={trace.run_id} onClose={close} />,
    },
    { label: t('common.keepTrace'), icon: 'lock', act: () => void pin([trace], t) },
  ];
  return (
    <ListScreen
      name="traces"
      texts={texts}
      pages={useTraces()}
      columns={columnsOf}
      filterBy={useFilters()}
      rowHref={({ run_id }) => traceHref(run_id)}
      menu={menu}
      bulk={[
        { label: t('compare'), icon: 'compare', run: compare },
        { label: t('common.keepTrace'), icon: 'lock', run: (traces) => void pin(traces, t) },
      ]}
      fills
    />
  );
}
