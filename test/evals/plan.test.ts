import t from 'tap';
import type { Directory, EvalLimits } from '../../src/evals/checks.ts';
import { planOnline, planRun, unitAt, unitCount } from '../../src/evals/plan.ts';
import { Dataset } from '../../src/schema/dataset.ts';
import { EvalRunRequest, OnlineEvalRequest } from '../../src/schema/eval-run.ts';
import { Outcome } from '../../src/schema/outcome.ts';

/** From a request to units of work: evals-and-traces.md 6.1, 8. */

const limits: EvalLimits = {
  max_cells_per_sync_run: 100,
  max_cells_per_async_run: 1000,
  max_concurrent_matrix_cells: 5,
  max_cells_per_sync_online: 10,
  max_concurrent_online_cells: 3,
  max_samples_per_cell: 20,
  max_judge_revisions: 3,
};

const datasetOf = (count: number) =>
  Dataset.parse({
    spec: { fixtures: Array.from({ length: count }, (_, index) => ({ id: `f${index}`, user_input: 'x' })) },
    meta: { source: { kind: 'user' }, hidden: false, created_at: 1, updated_at: 1, revision: 7 },
  });

const directory: Directory = {
  dataset: (id) => datasetOf(Number(id)),
  baseline: () => undefined,
  agent: () => undefined,
  model: (id) => ({ id, provider_id: id, upstream_model: id }),
  hasProvider: (id) => id !== 'orphan',
  connect(id) {
    if (id === 'broken') throw new Error('no key');
  },
};

const plan = (body: object, isAsync = false) =>
  planRun(EvalRunRequest.parse({ dataset_id: '2', ...body }), isAsync, limits, directory);

t.test('orders units by fixture, column and sample', async (t) => {
  const made = plan({ models: ['a', 'b'], variants: [{ id: 'v' }, { id: 'w' }], samples: 2 });
  t.equal(unitCount(made), 16);
  const units = Array.from({ length: 17 }, (_, index) => unitAt(made, index));
  t.equal(units[16], undefined);
  t.strictSame(
    units.slice(0, 16).map((unit) => [unit?.fixture_id, unit?.cell, unit?.sample_index]),
    ['f0', 'f1'].flatMap((id) =>
      ['a', 'b'].flatMap((model_id) =>
        ['v', 'w'].flatMap((variant_id) => [0, 1].map((n) => [id, { model_id, variant_id }, n])),
      ),
    ),
  );
});

t.test('creates one unit per fixture of a script, without a cell or a sample index', async (t) => {
  const made = plan({});
  t.match(made, { kind: 'dataset_scripted', mode: 'scripted', dataset_revision: 7, concurrency: 5 });
  t.strictSame(unitAt(made, 1), { fixture: made.fixtures[1], fixture_id: 'f1' });
  t.equal(unitCount(made), 2);
});

t.test('rejects an invalid stored dataset', async (t) => {
  const { meta } = datasetOf(0);
  const of = (...fixtures: object[]): Directory => ({
    ...directory,
    dataset: () => Dataset.parse({ spec: { fixtures }, meta }),
  });
  const request = EvalRunRequest.parse({ dataset_id: 'D', baseline_run_id: 'none' });
  const fixture = { id: 'f', user_input: 'x' };
  t.throws(() => planRun(request, false, limits, of(fixture, fixture)), /duplicate fixture id/);
  const high = { ...fixture, expect: { min_judge_score: 1.5 } };
  t.throws(() => planRun(request, false, limits, of(high)), /\[0\.0, 1\.0\]/);
});

t.test('allows more units for an asynchronous run', async (t) => {
  t.throws(() => plan({ dataset_id: '101' }), /expands to 101 units/);
  t.match(plan({ dataset_id: '101' }, true), { isAwaited: false });
  t.throws(() => plan({ dataset_id: '1001' }, true), /expands to 1001 units/);
});

t.test('rejects a model with a missing provider, and fails for an unusable model', async (t) => {
  t.throws(() => plan({ models: ['a', 'orphan'] }), { message: 'provider not found: providers/orphan' });
  const failure = t.throws(() => plan({ models: ['a', 'broken'] }), /cannot be called/);
  t.notOk(failure instanceof Outcome, 'the failure is not an error of the request');
});

t.test('creates one fixture without a dataset for an online eval', async (t) => {
  const request = OnlineEvalRequest.parse({ user_input: 'Hi', models: ['a', 'b'], samples: 2 });
  const made = planOnline(request, limits, directory);
  t.match(made, { kind: 'online_live_matrix', dataset_id: '_adhoc', dataset_revision: 0, concurrency: 3 });
  t.match(unitAt(made, 3), { fixture_id: '_adhoc', cell: { model_id: 'b' }, sample_index: 1 });
  t.match(made, { max_walltime_secs: 60, max_total_tokens: 10_000, tools: 'none' });
});
