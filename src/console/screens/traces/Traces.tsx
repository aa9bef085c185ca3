import pMap from 'p-map';
import { useMemo } from 'react';
import { anything } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Page, Stat } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { FixtureButton } from '../../fixtures/FixtureDialog.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { TextFilter } from '../../list/TextFilter.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { shortId } from '../../runs/RunChip.tsx';
import { ScreenLink, useGo } from '../../shell/links.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import { type TracedRun, type TraceFilter, tookOf, tracedRuns } from '../../trace/traces.ts';
import { newestOf, sumsOf } from './sums.ts';
import css from './Traces.module.css';
import { texts } from './texts.ts';

const MOST = 1000;

/** One more is asked for, which tells whether there are more. */
const ASKED = MOST + 1;

const FILTERS = ['agent', 'prompt', 'experiment', 'variant', 'since'];

const SINCE = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
type Since = keyof typeof SINCE;

const isSince = (value: string | undefined): value is Since =>
  value !== undefined && Object.hasOwn(SINCE, value);

/** By whole minutes, so that a look a moment later asks for the same. */
const instantOf = (since: string | undefined): string | undefined => {
  if (!isSince(since)) return undefined;
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - SINCE[since]).toISOString();
};

const traceHref = (id: string): string => `/traces/${encodeURIComponent(id)}`;

const AGENTS = recordsOf('agents', NamedRecord);

const Filters = () => {
  const t = useTexts(texts);
  const [address, setQuery] = useQueryState();
  const agents = useResource(AGENTS).data ?? [];
  return (
    <>
      <FilterSelect
        label={t('filter.agent')}
        value={address.agent ?? ''}
        options={[['', t('filter.all')], ...agents.map(({ id }) => [id, id] as const)]}
        onChange={(value) => setQuery({ agent: value || undefined })}
      />
      <TextFilter name="prompt" label={t('filter.prompt')} />
      <TextFilter name="experiment" label={t('filter.experiment')} />
      <TextFilter name="variant" label={t('filter.variant')} />
      <FilterSelect
        label={t('filter.since')}
        value={isSince(address.since) ? address.since : ''}
        options={[
          ['', t('filter.any')],
          ...(['1h', '24h', '7d'] as const).map((each) => [each, t(`since.${each}`)] as const),
        ]}
        onChange={(value) => setQuery({ since: value || undefined })}
      />
    </>
  );
};

/** The service tells whole seconds: nothing shorter is known. */
const useTook = (): ((ms: number | undefined) => string) => {
  const t = useTexts(texts);
  const { seconds } = useFormat();
  return useMemo(
    () => (ms) => (ms === undefined ? '—' : ms < 1000 ? t('took.short') : seconds(ms / 1000)),
    [t, seconds],
  );
};

const useColumns = (): Column<TracedRun>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  const time = useTook();
  return useMemo(
    () => [
      {
        id: 'run',
        label: t('column.run'),
        always: true,
        value: ({ run_id }) => run_id,
        cell: ({ run_id }) => (
          <span className={css.mono} title={run_id}>
            {shortId(run_id)}
          </span>
        ),
      },
      {
        id: 'status',
        label: t('column.status'),
        value: ({ final_status }) => final_status,
        cell: ({ final_status }) => (
          <Chip tone={final_status === 'error' ? 'error' : 'success'}>
            {t(final_status === 'error' ? 'status.error' : 'status.ok')}
          </Chip>
        ),
      },
      {
        id: 'agent',
        label: t('column.agent'),
        value: ({ agent_id }) => agent_id,
        cell: ({ agent_id }, mark) => (
          <ScreenLink to={`/agents/${encodeURIComponent(agent_id)}`}>{mark(agent_id)}</ScreenLink>
        ),
      },
      {
        id: 'started',
        label: t('column.started'),
        value: ({ started_at }) => started_at,
        text: () => '',
        cell: ({ started_at }) => <Ago at={started_at} />,
      },
      {
        id: 'took',
        label: t('column.took'),
        align: 'end',
        value: tookOf,
        text: () => '',
        cell: (run) => time(tookOf(run)),
      },
      {
        id: 'prompts',
        label: t('column.prompts'),
        unsorted: true,
        value: ({ prompt_ids }) => prompt_ids.join(' '),
        cell: ({ prompt_ids }, mark) => <span className={css.mono}>{mark(prompt_ids.join(' '))}</span>,
      },
      {
        id: 'variant',
        label: t('column.variant'),
        value: ({ experiment_id, variant_name }) =>
          [experiment_id, variant_name].filter((part) => part !== undefined).join(' · '),
      },
      {
        id: 'score',
        label: t('column.score'),
        align: 'end',
        value: ({ judge_score }) => judge_score,
        text: () => '',
        cell: ({ judge_score }) => (judge_score === undefined ? '—' : format.number(judge_score)),
      },
    ],
    [t, format, time],
  );
};

const Together = ({ runs, hasMore }: { runs: readonly TracedRun[]; hasMore: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { count, failedShare, half, most } = useMemo(() => sumsOf(runs), [runs]);
  const time = useTook();
  return (
    <section className={css.sums} aria-label={t('sum.of', { count: format.number(count) })}>
      <Stat label={t('sum.count')} value={`${format.number(count)}${hasMore ? '+' : ''}`} />
      <Stat
        label={t('sum.failed')}
        value={format.percent(failedShare)}
        tone={failedShare > 0 ? 'warn' : undefined}
      />
      <Stat label={t('sum.half')} value={time(half)} />
      <Stat label={t('sum.most')} value={time(most)} />
    </section>
  );
};

export default function Traces() {
  const t = useTexts(texts);
  const format = useFormat();
  const go = useGo();
  const [address] = useQueryState();
  const filter: TraceFilter = {
    agent_id: address.agent,
    prompt_id: address.prompt,
    experiment_id: address.experiment,
    variant_name: address.variant,
    since: instantOf(address.since),
  };
  const resource = { ...tracedRuns(filter, ASKED), keeps: true };
  const query = useResource(resource);
  const { runs, hasMore } = useMemo(() => newestOf(query.data?.runs ?? [], MOST), [query.data]);
  const columns = useColumns();
  const pin = async (chosen: readonly TracedRun[]): Promise<void> => {
    const path = (id: string): string => pathOf`/v1/traces/${id}/pin`;
    try {
      await pMap(chosen, ({ run_id }) => send({ method: 'POST', path: path(run_id) }, anything), {
        concurrency: 5,
      });
      toast('success', t('pinned', { count: chosen.length }));
    } catch (error) {
      toastError(error);
    }
  };
  const compare = ([one, other]: readonly TracedRun[]): void => {
    if (one && other) go(`${traceHref(one.run_id)}?with=${encodeURIComponent(other.run_id)}`);
  };
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <Loaded query={query} off={resource.off}>
        {() => (
          <>
            <Together runs={runs} hasMore={hasMore} />
            <List
              name="traces"
              rows={runs}
              columns={columns}
              rowId={({ run_id }) => run_id}
              rowHref={({ run_id }) => traceHref(run_id)}
              searchPlaceholder={t('search')}
              filters={<Filters />}
              filterKeys={FILTERS}
              fresh={freshOf(query)}
              actions={({ run_id }) => <FixtureButton runId={run_id} />}
              bulk={[
                { label: t('compare'), icon: 'compare', run: compare },
                { label: t('pin'), icon: 'lock', run: (rows) => void pin(rows) },
              ]}
              after={hasMore && <p className={css.quiet}>{t('newest', { count: format.number(MOST) })}</p>}
              empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
