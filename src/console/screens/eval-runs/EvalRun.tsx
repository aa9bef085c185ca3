import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { anything } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { LoadedById } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { resultsOf, toolUseOf, totalsOf } from '../../evals/compare.ts';
import { Results } from '../../evals/Results.tsx';
import { FailureKinds, Summary, ToolUses } from '../../evals/Summary.tsx';
import { Verdict } from '../../evals/Verdict.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './EvalRuns.module.css';
import { FixtureFacts } from './FixtureFacts.tsx';
import {
  type Aggregate,
  ANY_RUN,
  areComparable,
  isRunning,
  type RunAnswer,
  runOf,
  useEvalRun,
  useEvalRuns,
} from './runs.ts';
import { texts } from './texts.ts';

const Aggregates = ({ rows }: { rows: readonly Aggregate[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (!rows.some(({ samples }) => samples > 1)) return null;
  return (
    <Card title={t('aggregates')} flush>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col" aria-label={t('column.run')} />
            <th scope="col" data-number>
              {t('aggregates.samples')}
            </th>
            <th scope="col" data-number>
              {t('aggregates.rate')}
            </th>
            <th scope="col">{t('aggregates.any')}</th>
            <th scope="col">{t('aggregates.all')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ fixture_id, cell, samples, pass_rate, pass_at_k, pass_pow_k }) => (
            <tr key={`${fixture_id} ${cell?.model_id}`}>
              <td>
                <span className={css.mono}>{fixture_id}</span>{' '}
                <span className={css.quiet}>{cell?.model_id}</span>
              </td>
              <td data-number>{format.number(samples)}</td>
              <td data-number>{format.percent(pass_rate)}</td>
              <td>{t(pass_at_k ? 'yes' : 'no')}</td>
              <td>{t(pass_pow_k ? 'yes' : 'no')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
};

const Baselines = ({ run, baseline }: { run: RunAnswer['run']; baseline: string | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [, setQuery] = useQueryState();
  const runs = useEvalRuns(run.dataset_id).data ?? [];
  const others = runs.filter((other) => other.id !== run.id && areComparable(other, run));
  const isOther = baseline !== undefined && others.every(({ id }) => id !== baseline);
  return (
    <FilterSelect
      label={t('run.baseline')}
      value={baseline ?? ''}
      options={[
        ['', t('run.noBaseline')],
        ...(isOther ? [[baseline, t('run.otherBaseline', { id: baseline })] as const] : []),
        ...others.map(
          ({ id, started_at_secs, passed_count, item_count }) =>
            [id, `${format.date(started_at_secs * 1000)} · ${passed_count}/${item_count}`] as const,
        ),
      ]}
      onChange={(value) => setQuery({ baseline: value || undefined })}
    />
  );
};

const Cancel = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const [busy, setBusy] = useState(false);
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await send({ method: 'POST', path: pathOf`/v1/eval/runs/${id}/cancel` }, anything);
      toast('info', t('run.cancelled'));
      invalidate('/v1/eval/runs');
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  return (
    <Button tone="danger" disabled={busy} onClick={() => void cancel()}>
      {t('run.cancel')}
    </Button>
  );
};

const distinct = (values: readonly (string | undefined)[]): string =>
  [...new Set(values.filter((value) => value !== undefined))].join(', ');

const Whole = ({ answer, baseline }: { answer: RunAnswer; baseline: string | undefined }) => {
  const { run, diff, aggregates } = answer;
  const before = useResource(runOf(baseline ?? ''), baseline !== undefined && diff !== undefined);
  const baselineItems = before.data?.run.items;
  const results = useMemo(
    () => resultsOf(run.items, diff?.entries, baselineItems),
    [run.items, diff, baselineItems],
  );
  const totals = useMemo(() => totalsOf(run.items), [run.items]);
  const uses = useMemo(() => toolUseOf(run.items), [run.items]);
  return (
    <>
      {diff && <Verdict entries={diff.entries} />}
      <Summary totals={totals} />
      <Results
        name="eval-run-items"
        results={results}
        isCompared={diff !== undefined}
        about={({ item }) => <FixtureFacts dataset={run.dataset_id} fixture={item.fixture_id} />}
      />
      <div className={css.columns}>
        <Aggregates rows={aggregates} />
        <FailureKinds failures={totals.failures} />
        <ToolUses uses={uses} />
      </div>
    </>
  );
};

export default function EvalRun() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const [{ baseline }] = useQueryState();
  const plain = useEvalRun(id);
  const run = plain.data?.run;
  const running = run !== undefined && isRunning(run);
  // Only a run that has ended is compared.
  const isCompared = baseline !== undefined && run !== undefined && !running;
  const compared = useResource(runOf(id, baseline), isCompared);
  const query = isCompared && !compared.error ? compared : plain;
  return (
    <Page
      title={run ? t('run.title', { dataset: run.dataset_id, revision: run.dataset_revision }) : id}
      purpose={id}
      actions={running && <Cancel id={id} />}
    >
      {run && (
        <div className={css.bar}>
          <Chip tone={running ? 'info' : 'none'}>
            {t(run.execution_mode === 'live' ? 'mode.live' : 'mode.scripted')}
          </Chip>
          {running && (
            <span role="status">
              {t('run.progress', {
                finished: run.items.length,
                planned: run.planned_item_count ?? run.items.length,
              })}
            </span>
          )}
          {run.status === 'cancelled' && <Chip tone="warn">{t('cancelled')}</Chip>}
          <ScreenLink to={`/datasets/${encodeURIComponent(run.dataset_id)}`}>{t('run.dataset')}</ScreenLink>
          <span className={css.quiet}>
            {t('run.started')} <Ago at={run.started_at_secs} />
          </span>
          {run.items.some(({ cell }) => cell) && (
            <span className={css.quiet}>
              {t('run.models')}: {distinct(run.items.map(({ cell }) => cell?.model_id))}
            </span>
          )}
          {run.items.some(({ cell }) => cell?.agent_id) && (
            <span className={css.quiet}>
              {t('run.agent')}: {distinct(run.items.map(({ cell }) => cell?.agent_id))}
            </span>
          )}
          <Baselines run={run} baseline={baseline} />
        </div>
      )}
      {isCompared && compared.error && (
        <Notice tone="warn" title={t('run.notCompared')}>
          {redactText(compared.error.message)}
        </Notice>
      )}
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
