import t from 'tap';
import { openRoot } from '../../src/store/engine/environment.ts';
import { SLICE_ROWS, SLICED_TABLES } from '../../src/store/engine/removals.ts';
import { examine, openStore, type Store } from '../../src/store/index.ts';
import { startChild } from './child.ts';
import { storeFor } from './open.ts';
import { fillLong, LONG_ROWS, message, SCOPE, write } from './records.ts';

const begin = (store: Store, id: string): Promise<void> =>
  write(store, (batch) => store.removals.begin(batch, SCOPE, id));

/** The number of rows in the tables whose rows are removed in slices. */
const rowsIn = async (dir: string): Promise<number> => {
  const root = openRoot(dir);
  const counts = SLICED_TABLES.map((name) => root.openDB(name, { encoding: 'binary' }).getKeysCount({}));
  await root.close();
  return counts.reduce((sum, count) => sum + count, 0);
};

const seen = (store: Store, id: string) => ({
  last: store.messages.last(SCOPE, id)?.seq,
  first: store.messages.at(SCOPE, id, 1)?.seq,
  range: Array.from(store.messages.range(SCOPE, id, {})).length,
  run: store.messages.lastOfRun(SCOPE, id, 'r1')?.count,
  ofRun: Array.from(store.messages.ofRun(SCOPE, id, 'r1', {})).length,
  retractions: store.retractions.range(SCOPE, id, 1, LONG_ROWS).length,
  stopped: store.stopped.range(SCOPE, id, {}).length,
});

const NOTHING = {
  last: undefined,
  first: undefined,
  range: 0,
  run: undefined,
  ofRun: 0,
  retractions: 0,
  stopped: 0,
};

t.test('hides all rows of a long thread once the first commit of its removal is visible', async (t) => {
  const store = await storeFor(t);
  await fillLong(store, 't1', LONG_ROWS);
  await fillLong(store, 't10', 5);
  await write(store, (batch) => {
    store.retractions.put(batch, SCOPE, 't1', { seq: 3, external: true });
    store.stopped.put(batch, SCOPE, 't1', {
      seq: 3,
      run_id: 'r1',
      message: message('s', 'r1'),
      created_at: 1,
    });
  });
  await begin(store, 't1');
  t.ok(store.removals.isMarked(SCOPE, 't1'));
  t.strictSame(seen(store, 't1'), NOTHING);
  t.equal(seen(store, 't10').range, 5);
  await store.removals.finish(SCOPE, 't1');
  t.notOk(store.removals.isMarked(SCOPE, 't1'));
  await fillLong(store, 't1', 2);
  t.match(seen(store, 't1'), { last: 2, range: 2, run: 2, ofRun: 2, retractions: 0, stopped: 0 });
});

t.test('removes a short thread in the commit that deletes it', async (t) => {
  const store = await storeFor(t);
  await fillLong(store, 't1', SLICE_ROWS / 2);
  await begin(store, 't1');
  t.notOk(store.removals.isMarked(SCOPE, 't1'));
  t.strictSame(seen(store, 't1'), NOTHING);
});

t.test('serves other commits between the slices of two removals', async (t) => {
  const store = await storeFor(t);
  const ids = ['t1', 't2'];
  for (const id of ids) await fillLong(store, id, LONG_ROWS);
  for (const id of ids) await begin(store, id);
  let isDone = false;
  // The second caller waits for the same removal.
  const done = Promise.all([...ids, ...ids].map((id) => store.removals.finish(SCOPE, id))).then(() => {
    isDone = true;
  });
  let between = 0;
  while (!isDone) {
    await write(store, (batch) => store.state.put(batch, SCOPE, 'other', {}));
    if (!isDone) between += 1;
  }
  await done;
  const slices = (ids.length * 2 * LONG_ROWS) / SLICE_ROWS;
  t.ok(between >= slices / 2, `${between} commits`);
});

t.test('completes a removal that a kill interrupted', async (t) => {
  const dir = t.testdir();
  const child = startChild(t, 'child-remove.ts', [dir]);
  await child.exit;
  const left = await rowsIn(dir);
  t.ok(left > 0 && left < 2 * LONG_ROWS, `${left} rows are left`);
  t.strictSame((await examine({ dir })).findings, []);
  const store = await openStore({ dir, durability: 'process' });
  t.ok(store.removals.isMarked(SCOPE, 't1'));
  t.strictSame(seen(store, 't1'), NOTHING);
  await store.removals.finishAll();
  t.notOk(store.removals.isMarked(SCOPE, 't1'));
  await store.close();
  t.equal(await rowsIn(dir), 0);
});
