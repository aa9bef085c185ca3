import t, { type Test } from 'tap';
import { createIds } from '../../src/composition/ids.ts';
import { unitCount } from '../../src/evals/plan.ts';
import { createEvalRuns } from '../../src/evals/runs.ts';
import { createSlots } from '../../src/evals/slots.ts';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { Fixture } from '../../src/schema/dataset.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import type { Store } from '../../src/store/index.ts';
import { FULL, startRuntime } from '../runtime/runtime.ts';
import { eventually } from '../service/troupe.ts';

/** Eval runs on a store that temporarily rejects commits. */

const start = async (t: Test) => {
  const service = await startRuntime(t);
  const { store: real, runtime } = service;
  let left = Number.POSITIVE_INFINITY;
  let refused = 0;
  const store: Store = {
    ...real,
    commit(...args) {
      left -= 1;
      if (left >= 0) return real.commit(...args);
      refused += 1;
      return Promise.reject(new Unavailable(FULL));
    },
  };
  const allow = (commits: number): void => {
    left = commits;
  };
  const unused = (): never => {
    throw new Error('a script needs nothing of the configuration');
  };
  let ids = 0;
  const runs = createEvalRuns({
    store,
    clock: { now: Date.now },
    ids: createIds(),
    newId: () => `run-${++ids}`,
    run: (input) => runtime.ephemeral(input),
    live: { spec: unused, compile: unused, models: unused },
    traces: undefined,
    spans: undefined,
    observe: createObserver({ metrics: createMetrics(), stats: undefined }),
    events: undefined,
    actors: { began: () => () => {} },
    slots: createSlots(4),
    log: createLog({ level: 'silent' }),
  });
  t.teardown(runs.stop);
  const fixtures = ['a', 'b', 'c', 'd'].map((id) =>
    Fixture.parse({ id, user_input: 'x', mock_response: { kind: 'text', text: id } }),
  );
  const plan = {
    kind: 'dataset_scripted' as const,
    dataset_id: 'D',
    dataset_revision: 0,
    mode: 'scripted' as const,
    fixtures,
    cells: [],
    samples: 1,
    max_walltime_secs: 60,
    max_total_tokens: 1,
    tools: 'none' as const,
    concurrency: 2,
    isAwaited: true,
  };
  return { allow, refusals: () => refused, runs, plan, begin: () => runs.start('default', plan, true) };
};

/** A run does not keep the process alive. */
const come = <Run>(ended: Promise<Run | undefined>): Promise<Run | undefined> => {
  let run: Run | undefined;
  ended.then((record) => {
    run = record;
  });
  return eventually(
    async () => run,
    (record) => record !== undefined,
  );
};

type Started = Awaited<ReturnType<typeof start>>;

/** A run of which the store has accepted this many items, and then rejects everything. */
const stuck = async ({ begin, runs, refusals }: Started, items: number) => {
  const { id, ended } = begin();
  await eventually(
    async () => refusals(),
    (count) => count > 0,
  );
  await eventually(
    async () => runs.get(id).items,
    ({ length }) => length === items,
  );
  return { id, ended };
};

t.test('rejects a run that cannot be stored, and executes nothing', async (t) => {
  const { allow, begin, runs } = await start(t);
  allow(0);
  const { id, ended, started: begun } = begin();
  await t.rejects(begun, { message: FULL });
  await t.rejects(ended, { message: FULL });
  t.throws(() => runs.get(id), { message: `eval run not found: ${id}` });
});

t.test('also rejects a caller that only waits for the end, and keeps the process alive', async (t) => {
  const { allow, begin } = await start(t);
  allow(0);
  await t.rejects(begin().ended, { message: FULL });
  await new Promise(setImmediate);
});

t.test('executes and stores the remaining cells once the store accepts writes again', async (t) => {
  const started = await start(t);
  const { allow, plan, runs } = started;
  // The start and one item.
  allow(2);
  const { id, ended } = await stuck(started, 1);
  t.equal(runs.get(id).status, 'running');
  allow(Number.POSITIVE_INFINITY);
  const run = await come(ended);
  t.strictSame(
    run?.items.map(({ report }) => report.final_text),
    ['a', 'b', 'c', 'd'],
  );
  t.strictSame(run, runs.get(id));
  t.equal(run?.items.length, unitCount(plan));
});

t.test('stores a failed end later without executing anything again', async (t) => {
  const started = await start(t);
  const { allow, runs } = started;
  allow(5);
  const { id, ended } = await stuck(started, 4);
  t.equal(runs.get(id).status, 'running');
  allow(Number.POSITIVE_INFINITY);
  t.match(await come(ended), { items: { length: 4 } });
  t.notOk('status' in runs.get(id));
});
