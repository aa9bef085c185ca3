import t from 'tap';
import { Dataset } from '../../src/schema/dataset.ts';
import { Integrity } from '../../src/schema/outcome.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { write } from './records.ts';

/** Stored datasets: evals-and-traces.md 3.1, 4.1. */

const dataset = (fixtures: object[] = [], revision = 0, description = 'x'): Dataset =>
  Dataset.parse({
    spec: { description, fixtures },
    meta: { source: { kind: 'user' }, hidden: false, created_at: 1, updated_at: 2, revision },
  });

const fixture = (id: string, user_input = 'Hi') => ({ id, user_input });

const numbered = (count: number) => Array.from({ length: count }, (_, index) => fixture(`f${index}`));

const append = async (store: Store, id: string, fixtures: object[]): Promise<void> => {
  const head = store.datasets.head(id);
  if (!head) throw new Error(`no dataset ${id}`);
  const { spec, meta } = dataset(fixtures, head.meta.revision + 1);
  await write(store, (batch) => store.datasets.append(batch, head, meta, spec.fixtures ?? []));
};

t.test('reads a dataset back with the fixtures that were added to it', async (t) => {
  const store = await storeFor(t);
  const odd = {
    ...fixture('__proto__'),
    provider_script: JSON.parse(
      '[{"kind":"tool_call","id":"c","name":"n","arguments":{"__proto__":{"a":1}}}]',
    ),
  };
  await write(store, (batch) => store.datasets.put(batch, 'd', dataset([fixture('b'), odd])));
  await append(store, 'd', [fixture('a'), fixture('x'.repeat(5000))]);
  const read = store.datasets.get('d');
  t.strictSame(read, dataset([fixture('b'), odd, fixture('a'), fixture('x'.repeat(5000))], 1));
  t.match(JSON.stringify(read), '"arguments":{"__proto__":{"a":1}}');
  t.ok(store.datasets.hasFixture('d', '__proto__'));
  t.ok(store.datasets.hasFixture('d', 'x'.repeat(5000)));
  t.notOk(store.datasets.hasFixture('d', 'x'.repeat(4999)));
  t.notOk(store.datasets.hasFixture('\n', 'b'));
  t.equal(store.datasets.get('\n'), undefined);
  t.strictSame(store.datasets.head('d'), {
    id: 'd',
    description: 'x',
    fixture_count: 4,
    meta: dataset([], 1).meta,
  });
});

t.test('leaves nothing of a replaced or removed dataset', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => store.datasets.put(batch, 'd', dataset(numbered(5))));
  await write(store, (batch) => store.datasets.put(batch, 'd1', dataset([fixture('other')])));
  await write(store, (batch) => store.datasets.put(batch, 'd', dataset([fixture('new')], 1)));
  t.strictSame(store.datasets.get('d'), dataset([fixture('new')], 1));
  t.notOk(store.datasets.hasFixture('d', 'f0'));
  await write(store, (batch) => store.datasets.remove(batch, 'd'));
  t.equal(store.datasets.get('d'), undefined);
  t.notOk(store.datasets.hasFixture('d', 'new'));
  t.strictSame(store.datasets.get('d1'), dataset([fixture('other')]));
  await write(store, (batch) => store.datasets.put(batch, 'd', dataset([], 0, '')));
  t.strictSame(store.datasets.get('d')?.spec, {});
});

t.test('reads one row per listed dataset, and none before the page', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let index = 0; index < 300; index += 1) {
      store.datasets.put(batch, `d${String(index).padStart(4, '0')}`, dataset(numbered(5)));
    }
  });
  const before = store.reads;
  t.strictSame(
    store.datasets.list({ offset: 290, limit: 3 }).map(({ id, fixture_count }) => [id, fixture_count]),
    [
      ['d0290', 5],
      ['d0291', 5],
      ['d0292', 5],
    ],
  );
  t.equal(store.reads - before, 3);
  t.equal(store.datasets.list().length, 300);
  t.equal(store.reads - before, 303);
});

t.test('adds a fixture without reading or writing the existing ones', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => store.datasets.put(batch, 'd', dataset(numbered(10_000))));
  const before = store.reads;
  const head = store.datasets.head('d');
  t.notOk(store.datasets.hasFixture('d', 'new'));
  const batch = store.batch('commons');
  const { spec, meta } = dataset([fixture('new')], 1);
  if (head) store.datasets.append(batch, head, meta, spec.fixtures ?? []);
  t.equal(store.reads - before, 2);
  t.equal(batch.writes.length, 3);
  await store.commit(batch);
  t.equal(store.datasets.get('d')?.spec.fixtures?.at(-1)?.id, 'new');
  t.equal(store.datasets.get('d')?.spec.fixtures?.length, 10_001);
});

t.test('reports an unreadable row, also in a list', async (t) => {
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => {
    store.datasets.put(batch, 'good', dataset(numbered(2)));
    store.datasets.put(batch, 'torn', dataset(numbered(2)));
    store.datasets.put(batch, 'unread', dataset(numbered(2)));
  });
  await store.close();
  const root = openRoot(dir);
  await root.openDB<Buffer>('dataset_fixtures', { encoding: 'binary' }).put(['torn', 1], Buffer.from([0xd9]));
  await root.openDB<Buffer>('datasets', { encoding: 'binary' }).put(['unread'], Buffer.from([0xd9]));
  await root.close();
  const again = await storeFor(t, { dir });
  t.equal(again.datasets.get('good')?.spec.fixtures?.length, 2);
  t.throws(() => again.datasets.get('torn'), Integrity);
  t.throws(() => again.datasets.list(), Integrity);
  t.equal(again.datasets.list({ limit: 2 }).length, 2);
});
