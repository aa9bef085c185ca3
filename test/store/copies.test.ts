import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Conflict, Integrity, Unavailable } from '../../src/schema/outcome.ts';
import { blobPath } from '../../src/store/engine/blob-folder.ts';
import { closePrivate, createEnvironment, openRoot } from '../../src/store/engine/environment.ts';
import { numberOfRoot } from '../../src/store/engine/lineage.ts';
import type { ShippedRow, SinkOutcome } from '../../src/store/engine/sink.ts';
import { exportRows } from '../../src/store/export.ts';
import { type Batch, openStore, type Store } from '../../src/store/index.ts';
import { LOCAL, SHIPPED } from '../../src/store/kinds.ts';
import { DERIVED, LISTS } from '../../src/store/repair/derived.ts';
import { PART_BYTES } from '../../src/store/tables/blob-parts.ts';
import { type Copy, checkLoad, copyFor } from './copies.ts';
import { dump } from './dump.ts';
import { fillCommons, fillMember, fillThread, PLACE } from './every-table.ts';
import { createMemorySink } from './memory-sink.ts';
import { fillLong, LONG_ROWS, run, SCOPE, threadRecord } from './records.ts';

/** Stores that are copies of a database: shipping, refusals and loads (docs/design/store.md). */

const commit = (store: Store, place: Batch['place'], fill: (batch: Batch) => void): Promise<void> => {
  const batch = store.batch(place);
  fill(batch);
  return store.commit(batch, 'input');
};

const putState = (store: Store, thread_id: string, value: object = {}): Promise<void> =>
  commit(store, { scope: SCOPE, thread_id }, (batch) =>
    store.state.put(batch, SCOPE, thread_id, { ...value }),
  );

const REFERENCE_KIND = 19;
const PART_KIND = 55;
const LINK_KEY_KIND = 56;

t.test('gives every table of a store one place among shipped, derived and local tables', async (t) => {
  const dir = t.testdir();
  await (await openStore({ dir, durability: 'process' })).close();
  const shipped = SHIPPED.map(({ table }) => table);
  const derived = [...DERIVED, ...LISTS].filter((name) => !shipped.includes(name));
  const known = [...shipped, ...derived, ...LOCAL];
  t.strictSame([...(await dump(dir)).keys()].toSorted(), known.toSorted(), 'list a new table in kinds.ts');
  const numbers = SHIPPED.map(({ number }) => number);
  t.strictSame(
    numbers,
    [...numbers.keys()].map((index) => index + 1),
    'numbers are never used again',
  );
});

/** A database without space, which has some again after a refusal: then the store puts the row of a probe. */
const fillAndFree = async (t: Test, { store, sink }: Copy): Promise<void> => {
  // The store does not keep a process running for its next attempt.
  const running = setInterval(() => {}, 1000);
  sink.decide = () => refusal('unwritable');
  const recovered = new Promise<void>((resolve) => store.onRecovered(resolve));
  await t.rejects(
    Promise.all([putState(store, 'a'), putState(store, 'b', { text: LONG_TEXT })]),
    Unavailable,
  );
  t.equal(store.writable, false);
  sink.decide = () => undefined;
  await recovered;
  clearInterval(running);
  t.equal(store.writable, true);
};

const LONG_TEXT = 'x'.repeat(10_000);

t.test('loads what every table ships, row by row (check 31)', async (t) => {
  const copy = await copyFor(t);
  const { store, sink } = copy;
  await fillLong(store, 't9', LONG_ROWS);
  await commit(store, { scope: SCOPE, thread_id: 't9' }, (batch) => store.removals.begin(batch, SCOPE, 't9'));
  await commit(store, PLACE, (batch) => fillThread(store, batch));
  await commit(store, 'commons', (batch) => fillCommons(store, batch));
  await commit(store, 'member', (batch) => fillMember(store, batch));
  await fillAndFree(t, copy);
  const kinds = new Set(sink.all().map(({ kind }) => kind));
  const missing = SHIPPED.filter(({ number }) => !kinds.has(number));
  t.strictSame(missing, [], 'every kind has a row');
  const rows = await checkLoad(t, copy);
  const empty = [...rows].filter(([, found]) => found.length === 0).map(([name]) => name);
  t.strictSame(empty, [], 'every table has a row');
});

t.test('gives rows the lineage of their thread, of the commons or none', async (t) => {
  const { store, sink } = await copyFor(t);
  const child = { ...threadRecord('child', 1), lineage: '77' };
  const put = (batch: Batch) => store.threads.put(batch, SCOPE, child, undefined);
  await Promise.all([
    commit(store, { scope: SCOPE, thread_id: 'child' }, put),
    commit(store, { scope: SCOPE, thread_id: 'child' }, (batch) =>
      store.runs.put(batch, SCOPE, run('r2', { thread_id: 'child' }), undefined),
    ),
  ]);
  await commit(store, PLACE, (batch) => fillThread(store, batch));
  await commit(store, { scope: SCOPE, run_id: 'r2' }, (batch) =>
    store.awaiting.put(batch, { scope: SCOPE, thread_id: 'child', run_id: 'r2' }),
  );
  await commit(store, 'member', (batch) => fillMember(store, batch));
  const own = numberOfRoot(SCOPE, 't1');
  const home = new Map(SHIPPED.map(({ number, home }) => [number, home]));
  for (const { kind, key, lineage } of sink.all()) {
    const isBelow = key.includes('child') || key.includes('r2');
    const expected = { batch: isBelow ? 77n : own, commons: 0n, member: null }[home.get(kind) ?? 'batch'];
    t.equal(lineage, expected, `kind ${kind} ${key}`);
  }
  t.strictSame(sink.groups.flat()[0]?.owners, [0n], 'one member owns everything');
});

t.test('numbers roots by scope and id, and none as the commons', async (t) => {
  t.equal(numberOfRoot('default', 't1'), -4_177_839_766_960_033_229n);
  t.not(numberOfRoot('a', 'b\0c'), numberOfRoot('a\0b', 'd'));
});

t.test('stores and loads any value equal (check 32)', async (t) => {
  const copy = await copyFor(t);
  const { store } = copy;
  const odd = {
    zero: 'a\u0000b',
    lone: '\ud800 \udfff x',
    negative: -0,
    list: [-0, 1e21, 5e-324],
    big: 2 ** 53,
    small: -(2 ** 53),
    long: 'x'.repeat(5_000_000),
    nothing: null,
    nested: JSON.parse('{"__proto__":{"a":1},"toJSON":1,"constructor":[{"__proto__":null}]}'),
  };
  const id = '\u{1f4a1}'.repeat(128);
  t.equal(Buffer.byteLength(id), 512);
  await commit(store, { scope: id, thread_id: id }, (batch) => {
    store.threads.put(batch, id, threadRecord(id, 2 ** 53 - 1, { resource_id: 'a\u0000\ud800' }), undefined);
    store.state.put(batch, id, id, odd);
    store.runs.put(batch, id, run(id, { thread_id: id, final_output: odd.zero }), undefined, 5);
  });
  const again = await copyFor(t, copy.sink);
  const [found, stored] = [again.store, store].map((each) => JSON.stringify(each.state.get(id, id)));
  t.ok(found === stored, 'the values are equal');
  const nested = again.store.state.get(id, id)?.nested;
  t.strictSame(Object.keys(nested ?? {}), ['__proto__', 'toJSON', 'constructor']);
  await again.store.close();
  await checkLoad(t, copy);
});

t.test('continues order numbers above all that were loaded', async (t) => {
  const { store, sink } = await copyFor(t);
  const put = (to: Store, id: string) =>
    commit(to, PLACE, (batch) => to.runs.put(batch, SCOPE, run(id, { status: 'waiting' }), undefined, 5));
  await put(store, 'one');
  const second = await copyFor(t, sink);
  await put(second.store, 'two');
  const third = await copyFor(t, sink);
  await put(third.store, 'three');
  const ids = third.store.runs.waitingOf(SCOPE, 't1').map(({ run_id }) => run_id);
  t.strictSame(ids, ['one', 'two', 'three']);
});

t.test('finishes removals that the database has begun', async (t) => {
  const first = await copyFor(t);
  await fillLong(first.store, 't1', LONG_ROWS);
  await commit(first.store, PLACE, (batch) => first.store.removals.begin(batch, SCOPE, 't1'));
  const second = await copyFor(t, first.sink);
  t.equal(second.store.removals.isMarked(SCOPE, 't1'), true);
  await second.store.removals.finishAll();
  t.strictSame(new Set(first.sink.all().map(({ kind }) => kind)), new Set([LINK_KEY_KIND]));
  await checkLoad(t, second);
});

t.test('ships batches of one group so that each can be sent alone', async (t) => {
  const copy = await copyFor(t);
  const { store, sink } = copy;
  const first = putState(store, 't0');
  const append = commit(store, PLACE, (batch) =>
    store.tickets.put(batch, SCOPE, 't1', { ticket_id: 'k', call_id: 'c', ofCall: 1 }),
  );
  const clear = commit(store, PLACE, (batch) => store.tickets.removeAll(batch, SCOPE, 't1'));
  await Promise.all([first, append, clear]);
  t.strictSame(
    sink.groups.map((group) => group.map(({ rows, gone }) => [rows.length, gone.length])),
    [
      [[1, 0]],
      [
        [2, 0],
        [0, 2],
      ],
    ],
  );
  await checkLoad(t, copy);
});

t.test('limits the writes and the texts of a group', async (t) => {
  const { store, sink } = await copyFor(t);
  const putMany = (thread_id: string, count: number, text = '') =>
    commit(store, { scope: SCOPE, thread_id }, (batch) => {
      for (let at = 0; at < count; at += 1) store.pastStates.put(batch, SCOPE, thread_id, at, stateOf(text));
    });
  await Promise.all([
    putMany('first', 1),
    putMany('a', 3000),
    putMany('b', 1000),
    putMany('c', 1),
    putMany('large', 5000),
    putMany('d', 5, 'x'.repeat(2 ** 20)),
    putMany('e', 5, 'x'.repeat(2 ** 20)),
    putMany('f', 1),
  ]);
  t.strictSame(
    sink.groups.map((group) => group.map(({ rows }) => rows.length)),
    [[1], [3000, 1000], [1], [5000], [5], [5, 1]],
  );
  t.equal(store.pastStates.at(SCOPE, 'f', 9) !== undefined, true, 'all are stored');
});

const stateOf = (text: string) => ({ thread: { text }, threadHidden: {} });

/** Until all callers have received an error, batches that may be built on the refused one are refused too. */
const received = async (): Promise<void> => {
  for (let tick = 0; tick < 3; tick += 1) await new Promise(setImmediate);
};

const refusal = (why: Extract<SinkOutcome, { result: 'refused' }>['why']): SinkOutcome => ({
  result: 'refused',
  why,
  error: new Error(`the cause of ${why}`),
});

t.test('refuses a batch with the later ones of its lineage, and accepts others (check 30)', async (t) => {
  const sink = createMemorySink();
  sink.decide = ({ rows }) =>
    rows.some(({ value }) => value.includes('bad')) ? refusal('clash') : undefined;
  const copy = await copyFor(t, sink);
  const { store } = copy;
  const first = putState(store, 'other', { n: 0 });
  const group = [
    putState(store, 't1', { n: 1 }),
    putState(store, 't1', { n: 'bad' }),
    putState(store, 't1', { n: 3 }),
    putState(store, 'other', { n: 1 }),
  ];
  await first;
  // These wait behind the group, which has been shipped.
  let open = (): void => {};
  sink.gate = () => new Promise((resolve) => (open = resolve));
  while (sink.groups.length < 2) await new Promise(setImmediate);
  const behind = [putState(store, 't1', { n: 4 }), putState(store, 'other', { n: 2 })];
  sink.gate = () => Promise.resolve();
  open();
  const settled = await Promise.allSettled([...group, ...behind]);
  t.strictSame(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  );
  for (const result of settled)
    if (result.status === 'rejected') t.ok(result.reason instanceof Conflict, String(result.reason));
  t.strictSame(store.state.get(SCOPE, 't1'), { n: 1 });
  t.strictSame(store.state.get(SCOPE, 'other'), { n: 2 });
  t.equal(store.writable, true);
  await received();
  await putState(store, 't1', { n: 5 });
  t.strictSame(store.state.get(SCOPE, 't1'), { n: 5 }, 'later batches are accepted');
  await checkLoad(t, copy);
});

for (const [why, type] of [
  ['not-owner', Unavailable],
  ['invalid', Integrity],
  ['clash', Conflict],
] as const) {
  t.test(`rejects a batch that the database refuses as ${why}`, async (t) => {
    const { store, sink } = await copyFor(t);
    sink.decide = () => refusal(why);
    const error = await putState(store, 't1').catch((reason: unknown) => reason);
    t.ok(error instanceof type, String(error));
    t.notMatch(String(error), /the cause/, 'the cause may quote a row');
    t.equal(store.state.get(SCOPE, 't1'), undefined);
    sink.decide = () => undefined;
    await received();
    await putState(store, 't1');
  });
}

for (const why of ['fenced', 'behind', 'abandoned'] as const) {
  t.test(`writes nothing more once the member is ${why}`, async (t) => {
    const { store, sink } = await copyFor(t);
    await putState(store, 'before');
    let recovered = false;
    store.onRecovered(() => {
      recovered = true;
    });
    const lost = [putState(store, 'a')];
    sink.decide = ({ rows }) => (rows.some(({ key }) => key.includes('"b"')) ? refusal(why) : undefined);
    lost.push(putState(store, 'b'), putState(store, 'c'));
    const [first, ...rest] = await Promise.allSettled(lost);
    t.equal(first?.status, 'fulfilled', 'a batch that the database has is accepted');
    for (const result of rest) t.ok(result.status === 'rejected' && result.reason instanceof Unavailable);
    sink.decide = () => undefined;
    const groups = sink.groups.length;
    await t.rejects(putState(store, 'd'), Unavailable);
    await t.rejects(store.check(), Unavailable);
    t.equal(sink.groups.length, groups, 'nothing is shipped');
    t.equal(store.writable, false);
    t.equal(recovered, false);
    t.ok(store.state.get(SCOPE, 'before'), 'reads continue');
  });
}

t.test('is unwritable while the database takes no writes, and recovers without a commit', async (t) => {
  const copy = await copyFor(t);
  const { store, sink } = copy;
  await fillAndFree(t, copy);
  const probe = sink.groups.at(-1)?.[0]?.rows ?? [];
  t.equal(probe.length, 1);
  t.ok((probe[0]?.value.length ?? 0) > LONG_TEXT.length, 'a probe needs as much space as what was refused');
  await putState(store, 'a');
  await store.check();
});

t.test('resolves nothing while the outcome is open, loses nothing, and closes afterwards', async (t) => {
  const copy = await copyFor(t);
  const { store, sink } = copy;
  let open = (): void => {};
  sink.gate = () => new Promise((resolve) => (open = resolve));
  let ended = 0;
  const end = (): void => {
    ended += 1;
  };
  const commits = [putState(store, 'a'), putState(store, 'b'), putState(store, 'a', { n: 2 })];
  for (const each of commits) each.then(end, end);
  const closed = store.close().then(end);
  for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate);
  t.equal(ended, 0, 'all wait');
  t.equal(store.state.get(SCOPE, 'a'), undefined, 'readers see nothing of it');
  sink.gate = () => Promise.resolve();
  open();
  await Promise.all([...commits, closed]);
  await checkLoad(t, copy);
});

t.test('reports a folder that takes no write behind a commit of the database', async (t) => {
  const { store, sink, broken } = await copyFor(t);
  const batch = store.batch(PLACE);
  store.state.put(batch, SCOPE, 't1', {});
  const [first] = batch.writes;
  t.ok(first);
  // Not a row of the database: only the folder refuses it.
  if (first)
    batch.writes.push({ kind: 'put', rows: first.rows, key: ['x'.repeat(5000)], value: Buffer.alloc(1) });
  await t.rejects(store.commit(batch), Unavailable);
  t.match(broken, [{ name: 'Unavailable', message: /has to join again/ }]);
  await t.rejects(putState(store, 't2'), Unavailable);
  t.equal(sink.groups.length, 1);
});

t.test('empties only folders of copies, and opens none as a store', async (t) => {
  const copy = await copyFor(t);
  await copy.store.close();
  await t.rejects(openStore({ dir: copy.dir, durability: 'process' }), /is the copy of a database/);
  await (await copyFor(t, copy.sink, {}, copy.dir)).store.close();
  const dir = join(t.testdir(), 'data');
  mkdirSync(dir);
  writeFileSync(join(dir, 'notes'), 'mine');
  await t.rejects(copyFor(t, copy.sink, {}, dir), /is not empty \(1 entries\)/);
});

t.test('refuses rows of a kind that it does not have', async (t) => {
  const sink = createMemorySink();
  async function* rows() {
    yield [
      {
        kind: 999,
        key: '["a"]',
        lineage: 0n,
        scope: null,
        a: null,
        b: null,
        c: null,
        d: null,
        at: null,
        at2: null,
        value: '1',
      },
    ];
  }
  await t.rejects(copyFor(t, sink, { rows: rows() }), /rows of kind 999/);
});

t.test('refuses a backup, which the database has to make', async (t) => {
  const { store } = await copyFor(t);
  await t.rejects(async () => store.backup(join(t.testdir(), 'backup')), {
    name: 'Invalid',
    message: /pg_dump/,
  });
});

t.test('loads the contents of files and the key of their links', async (t) => {
  const first = await copyFor(t);
  const large = randomBytes(2 * PART_BYTES + 5);
  const [sha256, empty] = [large, Buffer.alloc(0)].map(
    (bytes) => [createHash('sha256').update(bytes).digest('hex'), bytes] as const,
  );
  if (!sha256 || !empty) throw new Error('two contents');
  await commit(first.store, 'commons', (batch) => {
    for (const [name, bytes] of [sha256, empty]) batch.blobs.set(name, bytes);
    first.store.documents.put(batch, 'assistant', { policy: 'kind' });
  });
  const second = await copyFor(t, first.sink);
  for (const [name, bytes] of [sha256, empty])
    t.ok(readFileSync(blobPath(second.store.blobs.folder, name)).equals(bytes), 'the same bytes');
  t.ok(second.store.files.linkKey.equals(first.store.files.linkKey), 'the same key');
  await second.store.blobs.remove(sha256[0]);
  const parts = () => first.sink.all().filter(({ kind }) => kind === PART_KIND);
  t.equal(parts().length, 1, 'the parts of the other content stay');
  await second.store.blobs.ship(sha256[0]);
  t.equal(parts().length, 4);
  const third = await copyFor(t, first.sink);
  t.ok(readFileSync(blobPath(third.store.blobs.folder, sha256[0])).equals(large), 'shipped from the folder');
  const names = new Set<string>();
  for await (const name of third.store.blobs.names()) names.add(name);
  t.strictSame(names, new Set([sha256[0], empty[0]]));
});

t.test('exports from a folder the rows that its commits have shipped', async (t) => {
  const { store, sink, dir } = await copyFor(t);
  const child = { ...threadRecord('t1', 1), lineage: '77' };
  await commit(store, PLACE, (batch) => fillThread(store, batch));
  await commit(store, 'commons', (batch) => fillCommons(store, batch));
  await commit(store, 'member', (batch) => fillMember(store, batch));
  await commit(store, { scope: SCOPE, thread_id: 'child' }, (batch) => {
    store.threads.put(batch, SCOPE, { ...child, thread: { ...child.thread, id: 'child' } }, undefined);
    store.runs.put(batch, SCOPE, run('r2', { thread_id: 'child' }), undefined);
    store.awaiting.put(batch, { scope: SCOPE, thread_id: 'child', run_id: 'r2' });
    store.state.put(batch, SCOPE, 'child', { mood: 'calm' });
  });
  await store.close();
  const root = openRoot(dir);
  const exported = [...exportRows(createEnvironment(root), dir)].flatMap(({ rows }) => rows);
  await closePrivate(root);
  const nameOf = ({ kind, key }: ShippedRow): string => `${kind} ${key}`;
  const found = new Map(exported.map((row) => [nameOf(row), row]));
  t.equal(found.size, exported.length, 'each row once');
  // The service pins traces with the configuration; the content of the file was never written to the folder.
  const expected = sink.all().filter(({ kind }) => kind !== REFERENCE_KIND && kind !== PART_KIND);
  for (const row of expected) t.strictSame(found.get(nameOf(row)), row, nameOf(row));
  t.equal(exported.filter(({ kind }) => kind !== REFERENCE_KIND).length, expected.length);
});
