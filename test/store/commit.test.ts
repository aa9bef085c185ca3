import t from 'tap';
import { MAX_ID_BYTES } from '../../src/schema/id.ts';
import { Invalid, Unavailable } from '../../src/schema/outcome.ts';
import { openStore } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from './open.ts';
import { event, message, run, SCOPE, threadRecord, write } from './records.ts';

t.test('makes all writes of a batch visible together when the commit resolves', async (t) => {
  const store = await storeFor(t);
  const batch = store.batch('commons');
  store.threads.put(batch, SCOPE, threadRecord('t1', 5), undefined);
  store.messages.append(batch, SCOPE, 't1', [{ seq: 1, message: message('m1'), created_at: 1, external: 1 }]);
  store.runs.put(batch, SCOPE, run('r1'), undefined);
  const committed = store.commit(batch);
  t.equal(store.threads.get(SCOPE, 't1'), undefined);
  await committed;
  t.strictSame(store.threads.get(SCOPE, 't1'), threadRecord('t1', 5));
  t.strictSame(store.messages.at(SCOPE, 't1', 1)?.message, message('m1'));
  t.strictSame(store.runs.get(SCOPE, 'r1'), run('r1'));
});

t.test('writes nothing of a batch with a value that cannot be stored', async (t) => {
  const store = await storeFor(t);
  const batch = store.batch('commons');
  store.threads.put(batch, SCOPE, threadRecord('t1', 5), undefined);
  t.throws(() => store.state.put(batch, SCOPE, 't1', { huge: 2n ** 80n }));
  t.throws(() => store.state.put(batch, SCOPE, 'x'.repeat(MAX_ID_BYTES + 1), {}), Invalid);
  t.throws(() => store.threads.put(batch, SCOPE, threadRecord('a\u0000b', 5), undefined), Invalid);
  await write(store, (other) => store.state.put(other, SCOPE, 't2', { ok: true }));
  t.equal(store.threads.get(SCOPE, 't1'), undefined);
  t.equal(store.threads.list(SCOPE, {}, { offset: 0, limit: 1 }).total, 0);
});

t.test('applies the writes of a batch in the order in which they were added', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    store.state.put(batch, SCOPE, 't1', { first: true });
    store.state.remove(batch, SCOPE, 't1');
    store.state.put(batch, SCOPE, 't2', { first: true });
    store.state.remove(batch, SCOPE, 't2');
    store.state.put(batch, SCOPE, 't2', { second: true });
  });
  t.equal(store.state.get(SCOPE, 't1'), undefined);
  t.strictSame(store.state.get(SCOPE, 't2'), { second: true });
});

t.test('treats ids that cannot be stored as unknown', async (t) => {
  const store = await storeFor(t);
  for (const id of ['x'.repeat(5000), 'a\u0000b', '', '\ud800']) {
    t.equal(store.threads.get(SCOPE, id), undefined);
    t.equal(store.runs.get(SCOPE, id), undefined);
    t.equal(store.messages.last(SCOPE, id), undefined);
    t.equal(store.events.last(SCOPE, id), 0);
    t.strictSame(store.threads.children(SCOPE, id), []);
    t.equal(store.threads.list(SCOPE, { parent: { scope: SCOPE, id } }, { offset: 0, limit: 5 }).total, 0);
  }
});

t.test('accepts the longest ids in every key', async (t) => {
  const store = await storeFor(t);
  const [scope, id, other] = ['s', 'é', 'ü'].map((text) =>
    text.repeat(MAX_ID_BYTES / Buffer.byteLength(text)),
  ) as [string, string, string];
  const record = threadRecord(id, 5, { resource_id: '\u0000'.repeat(3000), parent_thread_id: other });
  await write(store, (batch) => {
    store.threads.put(batch, scope, record, undefined);
    store.runs.put(batch, scope, run(other, { thread_id: id }), undefined);
    store.messages.append(batch, scope, id, [
      { seq: 1, message: message('m', other), created_at: 1, external: 1 },
    ]);
    store.events.append(batch, scope, id, 1, [event('e', other)]);
  });
  const filter = { resource_id: '\u0000'.repeat(3000), parent: { scope, id: other } };
  t.strictSame(store.threads.list(scope, filter, { offset: 0, limit: 5 }).items, [record]);
  t.equal(
    store.threads.list(scope, { resource_id: '\u0000'.repeat(2999) }, { offset: 0, limit: 5 }).total,
    0,
  );
  t.equal(store.messages.lastOfRun(scope, id, other)?.seq, 1);
  t.equal(store.events.list(scope, { run_id: other }, 0, 5).rows.length, 1);
});

t.test('makes commits visible in the order of the calls', async (t) => {
  const store = await storeFor(t);
  const seen: number[] = [];
  const commits = Array.from({ length: 20 }, (_, index) =>
    write(store, (batch) => store.state.put(batch, SCOPE, 't1', { index })).then(() => seen.push(index)),
  );
  await Promise.all(commits);
  t.strictSame(
    seen,
    commits.map((_, index) => index),
  );
  t.strictSame(store.state.get(SCOPE, 't1'), { index: 19 });
});

t.test('waits for the flush with durability power for input, but not for progress', async (t) => {
  const store = await storeFor(t, { durability: 'power' });
  const ended: string[] = [];
  const commit = (name: string, kind: 'input' | 'progress') => {
    const batch = store.batch('commons');
    store.state.put(batch, SCOPE, name, {});
    return store.commit(batch, kind).then(() => ended.push(name));
  };
  // The first one opens a group that the others join.
  await Promise.all([commit('first', 'progress'), commit('input', 'input'), commit('last', 'progress')]);
  t.strictSame(ended, ['first', 'last', 'input']);
});

t.test('acknowledges input in the order of the calls with durability process', async (t) => {
  const store = await storeFor(t);
  const ended: string[] = [];
  const commit = (kind: 'input' | 'progress') => {
    const batch = store.batch('commons');
    store.state.put(batch, SCOPE, kind, {});
    return store.commit(batch, kind).then(() => ended.push(kind));
  };
  await Promise.all([commit('input'), commit('progress')]);
  t.strictSame(ended, ['input', 'progress']);
});

t.test('stores the values of a batch as they were when they were added', async (t) => {
  const store = await storeFor(t);
  const value = { list: [1] };
  const batch = store.batch('commons');
  store.state.put(batch, SCOPE, 't1', value);
  value.list.push(2);
  await store.commit(batch);
  t.strictSame(store.state.get(SCOPE, 't1'), { list: [1] });
});

t.test('reads every JSON value back unchanged, also in the next process', async (t) => {
  const dir = t.testdir();
  const named = fc.dictionary(
    fc.oneof(fc.constantFrom('id', 'status', 'payload', '__proto__'), fc.string()),
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value))),
  );
  const values = fc.sample(named, { numRuns: 400, seed: 7 });
  const first = await openStore({ dir, durability: 'process' });
  await Promise.all(
    values.map((value, index) => write(first, (batch) => first.state.put(batch, SCOPE, `t${index}`, value))),
  );
  for (const [index, value] of values.entries())
    t.strictSame(plain(first.state.get(SCOPE, `t${index}`)), plain(value));
  await first.close();
  const second = await openStore({ dir, durability: 'process' });
  t.teardown(() => second.close());
  for (const [index, value] of values.entries()) {
    const read = second.state.get(SCOPE, `t${index}`);
    t.strictSame(plain(read), plain(value));
    t.equal(JSON.stringify(read), JSON.stringify(value));
  }
});

t.test('keeps large numbers of differently shaped rows in one table readable', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  const shapeOf = (index: number) => ({ [`field_${index}`]: index, nested: { [`inner_${index}`]: [index] } });
  for (let index = 0; index < 600; index += 100) {
    await write(first, (batch) => {
      for (let i = index; i < index + 100; i += 1) first.state.put(batch, SCOPE, `t${i}`, shapeOf(i));
    });
  }
  await first.close();
  const second = await openStore({ dir, durability: 'process' });
  t.teardown(() => second.close());
  await write(second, (batch) => second.state.put(batch, SCOPE, 'new', shapeOf(601)));
  for (let i = 0; i < 600; i += 1) t.strictSame(second.state.get(SCOPE, `t${i}`), shapeOf(i));
  t.strictSame(second.state.get(SCOPE, 'new'), shapeOf(601));
});

t.test('waits for pending commits on close, and rejects later ones', async (t) => {
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'power' });
  const pending = write(store, (batch) => store.state.put(batch, SCOPE, 't1', { kept: true }));
  const closed = store.close();
  await t.rejects(store.check(), Unavailable);
  await t.rejects(
    write(store, (batch) => store.state.put(batch, SCOPE, 't2', {})),
    Unavailable,
  );
  await Promise.all([pending, closed]);
  const again = await openStore({ dir, durability: 'power' });
  t.teardown(() => again.close());
  t.strictSame(again.state.get(SCOPE, 't1'), { kept: true });
  await t.resolves(again.check());
});

/** Normalizes as JSON does, so that -0 and the order of keys do not affect the comparison. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
