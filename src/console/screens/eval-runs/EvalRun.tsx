import { useParams } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything } from '../../data/guard.ts';
import { invalidate, type Loaded, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Id } from '../../design/Copy.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { LoadedById } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { Comparison } from '../../eval-results/Comparison.tsx';
import { type Side, totalsOf } from '../../eval-results/compare.ts';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { datasetOf } from '../../fixtures/dataset.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { FigureTable } from '../../list/FigureTable.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { useEntryName } from '../../navigation/entry-names.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import {
  type Aggregate,
  ANY_RUN,
  isRunning,
  nameOf,
  obstacleOf,
  type RunAnswer,
  runOf,
  useEvalRun,
  useEvalRuns,
} from './runs.ts';
import texts from './texts.json' with { type: 'json' };

type Run = RunAnswer['run'];

const Aggregates = ({ rows }: { rows: readonly Aggregate[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (!rows.some(({ samples }) => samples > 1)) return null;
  return (
    <Card title={t('aggregates')} flush>
      <FigureTable
        label={t('aggregates')}
        columns={[
          t('column.case'),
          t('aggregates.samples'),
          t('common.passRate'),
          t('aggregates.any'),
          t('aggregates.all'),
        ]}
        rows={rows.map(({ fixture_id, cell, samples, pass_rate, pass_at_k, pass_pow_k }) => ({
          key: `${fixture_id} ${cell?.model_id}`,
          name: (
            <>
              <code>{fixture_id}</code> <span className="quiet">{cell?.model_id}</span>
            </>
          ),
          figures: [
            format.number(samples),
            format.percent(pass_rate),
            t(pass_at_k ? 'yes' : 'no'),
            t(pass_pow_k ? 'yes' : 'no'),
          ],
        }))}
      />
    </Card>
  );
};

const modelsIn = ({ items }: Run): string[] => [
  ...new Set(items.flatMap(({ cell }) => cell?.model_id ?? [])),
];

const useName = () => {
  const t = useTexts(texts);
  const { moment } = useFormat();
  return useCallback((run: Run): string => nameOf({ ...run, models: modelsIn(run) }, t, moment), [t, moment]);
};

const Baselines = ({ run, baseline }: { run: Run; baseline: string | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [, setQuery] = useQueryState();
  const runs = useEvalRuns(run.dataset_id).data ?? [];
  const chosen = runs.find(({ id }) => id === baseline);
  const others = runs.filter(
    (other) =>
      other === chosen || (other.id !== run.id && !isRunning(other) && obstacleOf(other, run) === undefined),
  );
  return (
    <FilterSelect
      label={t('run.baseline')}
      value={baseline ?? ''}
      options={[
        ['', t('run.noBaseline')],
        ...(baseline !== undefined && !chosen ? [[baseline, baseline] as const] : []),
        ...others.map(
          (other) =>
            [
              other.id,
              `${nameOf(other, t, format.moment)} · ${other.passed_count}/${other.item_count}`,
            ] as const,
        ),
      ]}
      onChange={(value) =>
        setQuery({ baseline: value || undefined, a: undefined, b: undefined, item: undefined })
      }
    />
  );
};

const Cancel = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const cancel = async (): Promise<void> => {
    await send({ method: 'POST', path: pathOf`/v1/eval/runs/${id}/cancel` }, anything);
    toast('info', t('run.cancelled'));
    invalidate('/v1/eval/runs');
  };
  return (
    <Button tone="danger" disabled={isBusy} onClick={() => run(cancel)}>
      {t('run.cancel')}
    </Button>
  );
};

/** The test cases of a stored dataset as they are now; online evals have none. */
const useFixtures = (dataset: string) => {
  const known = useResource(datasetOf(dataset), !dataset.startsWith('_')).data;
  return useMemo(
    () => new Map((known?.spec.fixtures ?? []).map((fixture) => [fixture.id, fixture])),
    [known],
  );
};

const Unplayable = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const count = useMemo(() => totalsOf(run.items).counts.unplayable, [run.items]);
  if (count === 0) return null;
  return (
    <Notice
      tone="warn"
      title={t('unplayable', { count })}
      actions={
        <ScreenLink to={`/datasets/${encodeURIComponent(run.dataset_id)}?mode=live`} className={buttonLook}>
          {t('unplayable.live')}
        </ScreenLink>
      }
    />
  );
};

/** The run to compare with, or the reason why it cannot be compared. */
const useBaseline = (run: Run, { data, error }: Loaded<RunAnswer>, id: string | undefined) => {
  const t = useTexts(texts);
  const name = useName();
  const before = data?.run;
  const side = useMemo(
    (): Side | undefined => before && { label: name(before), items: before.items },
    [before, name],
  );
  if (id === undefined) return {};
  if (statusOf(error) === 404) return { problem: t('obstacle.missing', { id }) };
  const obstacle = before && obstacleOf(run, before);
  return obstacle ? { problem: t(`obstacle.${obstacle}`) } : { side };
};

const Whole = ({ answer, baseline }: { answer: RunAnswer; baseline: string | undefined }) => {
  const t = useTexts(texts);
  const name = useName();
  const { run, aggregates } = answer;
  // Only an ended run can be compared.
  const wanted = isRunning(run) ? undefined : baseline;
  const query = useResource(runOf(wanted ?? ''), wanted !== undefined);
  const { side, problem } = useBaseline(run, query, wanted);
  const after = useMemo((): Side => ({ label: name(run), items: run.items }), [run, name]);
  const fixtures = useFixtures(run.dataset_id);
  return (
    <>
      {problem !== undefined && (
        <Notice tone="warn" title={t('obstacle.title')}>
          {problem}
        </Notice>
      )}
      <Unplayable run={run} />
      <Comparison name="eval-run-items" after={after} before={side} fixtures={fixtures}>
        <Aggregates rows={aggregates} />
      </Comparison>
    </>
  );
};

const Facts = ({ run, baseline }: { run: Run; baseline: string | undefined }) => {
  const t = useTexts(texts);
  const agents = [...new Set(run.items.flatMap(({ cell }) => cell?.agent_id ?? []))];
  const facts = [
    ['run.models', modelsIn(run)],
    ['run.agents', agents],
  ] as const;
  return (
    <div className="row">
      <Chip tone={isRunning(run) ? 'info' : 'none'}>
        {t(run.execution_mode === 'live' ? 'mode.live' : 'mode.scripted')}
      </Chip>
      {isRunning(run) && (
        <span role="status">
          {t('run.progress', {
            finished: run.items.length,
            planned: run.planned_item_count ?? run.items.length,
          })}
        </span>
      )}
      {run.status === 'cancelled' && <Chip tone="warn">{t('cancelled')}</Chip>}
      <span>
        {t('run.dataset')}{' '}
        <ScreenLink to={`/datasets/${encodeURIComponent(run.dataset_id)}`}>
          {t('run.title', { dataset: run.dataset_id, revision: run.dataset_revision })}
        </ScreenLink>
      </span>
      {facts.map(
        ([name, values]) =>
          values.length > 0 && (
            <span key={name} className="quiet">
              {t(name)} {values.join(', ')}
            </span>
          ),
      )}
      <span className="quiet">
        {t('run.started')} <Ago at={run.started_at_secs} />
      </span>
      <Id id={run.id} />
      <Baselines run={run} baseline={baseline} />
    </div>
  );
};

export default function EvalRun() {
  const t = useTexts(texts);
  const { moment } = useFormat();
  const { id = '' } = useParams({ strict: false });
  const [{ baseline }] = useQueryState();
  const query = useEvalRun(id);
  const run = query.data?.run;
  const title = run && `${run.dataset_id} · ${moment(run.started_at_secs * 1000)}`;
  useEntryName(id, title);
  return (
    <Page title={title ?? t('run')} actions={run && isRunning(run) && <Cancel id={id} />}>
      {run && <Facts run={run} baseline={baseline} />}
      <LoadedById
        query={query}
        list={ANY_RUN}
        unknown={<NoSuch title={t('run.missing', { id })} to="/eval-runs" all={t('run.all')} />}
      >
        {(read) => <Whole answer={read} baseline={baseline} />}
      </LoadedById>
    </Page>
  );
}
