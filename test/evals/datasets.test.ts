import t, { type Test } from 'tap';
import { createCuration } from '../../src/evals/curation.ts';
import { createDatasets, type Datasets } from '../../src/evals/datasets.ts';
import { createTraces } from '../../src/observability/traces/traces.ts';
import { type DatasetSpec, Fixture } from '../../src/schema/dataset.ts';
import { Conflict, NotFound } from '../../src/schema/outcome.ts';
import type { TraceSummary } from '../../src/schema/trace.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from '../store/open.ts';

/** Concurrent writes of datasets: evals-and-traces.md 4, 9.5. */

const clock = { now: () => 1_000_000_000, monotonic: () => 0 };

const fixture = (id: string): Fixture => Fixture.parse({ id, user_input: 'Hi' });

const IDS = ['a', 'b'];
const NAMES = ['x', 'y', 'z'];

type Write =
  | { kind: 'create'; id: string; names: string[] }
  | { kind: 'replace'; id: string; names: string[]; expected?: number | undefined }
  | { kind: 'append'; id: string; name: string; expected: number }
  | { kind: 'remove'; id: string; expected?: number | undefined };

const id = fc.constantFrom(...IDS);
const expected = fc.option(fc.nat(4), { nil: undefined });
const names = fc.uniqueArray(fc.constantFrom(...NAMES));

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: fc.constant('create'), id, names }),
  fc.record({ kind: fc.constant('replace'), id, names, expected }),
  fc.record({ kind: fc.constant('append'), id, name: fc.constantFrom(...NAMES), expected: fc.nat(4) }),
  fc.record({ kind: fc.constant('remove'), id, expected }),
);

type Known = { names: string[]; revision: number };
type Told = number | 'conflict' | 'missing';

/** The expected state of a dataset, and the expected response to its writer. */
const play = (model: Map<string, Known>, step: Write): Told => {
  const known = model.get(step.id);
  const set = (next: string[], revision: number): number => {
    model.set(step.id, { names: next, revision });
    return revision;
  };
  if (step.kind === 'create') return known ? 'conflict' : set(step.names, 0);
  const isStale = step.expected !== undefined && step.expected !== (known?.revision ?? 0);
  if (step.kind === 'remove') {
    if (isStale) return 'conflict';
    model.delete(step.id);
    return 0;
  }
  if (!known) return step.kind === 'replace' && step.expected === 0 ? set(step.names, 1) : 'missing';
  if (isStale) return 'conflict';
  if (step.kind === 'replace') return set(step.names, known.revision + 1);
  if (known.names.includes(step.name)) return 'conflict';
  return set([...known.names, step.name], known.revision + 1);
};

const specOf = (all: string[]): DatasetSpec => ({ ...(all.length > 0 && { fixtures: all.map(fixture) }) });

const perform = async (datasets: Datasets, step: Write): Promise<number> => {
  if (step.kind === 'create') return (await datasets.create(step.id, specOf(step.names))).meta.revision;
  if (step.kind === 'replace')
    return (await datasets.replace(step.id, specOf(step.names), step.expected)).meta.revision;
  if (step.kind === 'append')
    return (await datasets.append(step.id, fixture(step.name), step.expected)).meta.revision;
  await datasets.remove(step.id, step.expected);
  return 0;
};

const told = (done: Promise<number>): Promise<Told> =>
  done.catch((error: unknown) => {
    if (error instanceof Conflict) return 'conflict';
    if (error instanceof NotFound) return 'missing';
    throw error;
  });

const stateOf = (datasets: Datasets) =>
  IDS.map((each) => {
    const dataset = datasets.get(each);
    return (
      dataset && { names: dataset.spec.fixtures?.map((one) => one.id) ?? [], revision: dataset.meta.revision }
    );
  });

t.test('applies concurrent writes one by one, and keeps them across restarts', async (t) => {
  const dir = t.testdir();
  const open = (): Promise<Store> => openStore({ dir, durability: 'process' });
  let store = await open();
  t.teardown(() => store.close());
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(write, { maxLength: 8 }), { maxLength: 4 }), async (rounds) => {
      const model = new Map<string, Known>();
      let datasets = createDatasets({ store, clock });
      for (const each of IDS) await datasets.remove(each);
      for (const round of rounds) {
        const answers = round.map((step) => told(perform(datasets, step)));
        t.strictSame(
          await Promise.all(answers),
          round.map((step) => play(model, step)),
        );
        await store.close();
        store = await open();
        datasets = createDatasets({ store, clock });
        t.strictSame(
          stateOf(datasets),
          IDS.map((each) => model.get(each)),
        );
      }
    }),
    { numRuns: 25 },
  );
});

const summaryOf = (run_id: string): TraceSummary => ({
  run_id,
  agent_id: 'a',
  started_at: 1,
  ended_at: 2,
  prompt_ids: [],
  final_status: 'ok',
});

const inference = JSON.stringify({
  type: 'inference',
  request_messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  response_content: [{ type: 'text', text: 'Hello' }],
});

/** Traces that are all old enough to be pruned. */
const curating = async (t: Test, run_ids: string[], hasSink = false) => {
  const dir = t.testdir({ store: {}, sink: {} });
  const store = await storeFor(t, { dir: `${dir}/store` });
  const sink = hasSink ? await storeFor(t, { dir: `${dir}/sink` }) : undefined;
  const home = sink ?? store;
  const batch = home.batch('commons');
  const lines = Array.from({ length: 40 }, () => inference);
  for (const run_id of run_ids) {
    const head = {
      total: 40,
      state: 'done' as const,
      summary: summaryOf(run_id),
      created_at: 1,
      written_at: 1,
    };
    home.traces.write(batch, head, lines);
  }
  await home.commit(batch);
  const traces = createTraces({
    store,
    sink,
    clock,
    log: { warn: () => {} },
    settings: {
      observeAll: true,
      capture: { content: true, tool_io: 'disabled', payload: { fields: undefined, maxBytes: 1 } },
      sampling: undefined,
      release_tag: undefined,
      retentionDays: 0,
      pruneIntervalSecs: 1,
    },
    dropped: () => {},
  });
  const datasets = createDatasets({ store, clock });
  const settings = { default_import_traces_max: 50, hasWholeToolIo: true };
  const curation = createCuration({ datasets, traces, settings });
  await datasets.create('d', {});
  return { traces, datasets, curation };
};

const request = { expected: { max_tokens_total: 1 }, mode: 'optional' } as const;

for (const hasSink of [false, true]) {
  const where = hasSink ? ' in a folder of its own' : '';
  t.test(
    `a trace${where} that is pruned while it is curated exists with its fixture, or neither does`,
    async (t) => {
      const run_ids = Array.from({ length: 30 }, (_, index) => `r${index}`);
      const { traces, datasets, curation } = await curating(t, run_ids, hasSink);
      const curated = run_ids.map(async (from_run_id, index) => {
        for (let turn = 0; turn < index % 7; turn += 1) await new Promise(setImmediate);
        return curation.curate('d', { ...request, from_run_id }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof NotFound) return false;
            throw error;
          },
        );
      });
      const pruning = (async () => {
        for (let round = 0; round < 60; round += 1) await traces.prune();
      })();
      const isCurated = await Promise.all(curated);
      await pruning;
      await traces.prune();
      t.ok(isCurated.includes(true));
      for (const [index, run_id] of run_ids.entries()) {
        t.equal(datasets.hasFixture('d', run_id), isCurated[index]);
        if (isCurated[index]) t.equal(traces.page(run_id, 0, 1).total, 40);
        else t.throws(() => traces.page(run_id, 0, 1), NotFound);
      }
    },
  );
}

t.test('writes nothing for an import with an outdated revision, and releases its traces', async (t) => {
  const { traces, datasets, curation } = await curating(t, ['r0', 'r1']);
  const late = curation.importTraces('d', { ...request, expected_revision: 0, skip_uncuratable: false });
  const quick = datasets.append('d', fixture('quick'), 0);
  await t.rejects(late, { message: 'revision conflict: expected 0, actual 1' });
  await quick;
  t.strictSame(
    datasets.get('d')?.spec.fixtures?.map((each) => each.id),
    ['quick'],
  );
  t.equal(await traces.prune(), 2);
});

t.test('loses no concurrent curation', async (t) => {
  const run_ids = ['r0', 'r1', 'r2', 'r3'];
  const { datasets, curation } = await curating(t, run_ids);
  const all = await Promise.all(
    run_ids.map((from_run_id) => curation.curate('d', { ...request, from_run_id })),
  );
  t.strictSame(all.map(({ meta }) => meta.revision).sort(), [1, 2, 3, 4]);
  for (const { spec, meta } of all)
    t.equal(spec.fixtures?.length, meta.revision, 'each curation received its own revision');
  t.equal(datasets.get('d')?.spec.fixtures?.length, 4);
});
