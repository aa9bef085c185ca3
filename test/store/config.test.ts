import { join } from 'node:path';
import t from 'tap';
import { Invalid } from '../../src/schema/outcome.ts';
import { isId } from '../../src/store/engine/keys.ts';
import { openStore } from '../../src/store/index.ts';
import fc, { anyText } from '../random.ts';
import { auditEvent, publication, record, ulidAt, version } from './config-rows.ts';
import { copyKey, storeFor } from './open.ts';
import { write } from './records.ts';

t.test('reads a record back by its namespace and id', async (t) => {
  const store = await storeFor(t);
  const full = record('a', {
    source: { kind: 'builtin', binary_version: '1.2.3' },
    hidden: true,
    user_overrides: { description: null, sections: { x: null } },
    published: { spec: { id: 'a', old: true }, user_overrides: {}, hidden: false },
  });
  await write(store, (batch) => {
    store.config.put(batch, full);
    store.config.put(batch, record('a', { namespace: 'agents', published: null }));
  });
  t.strictSame(store.config.get('models', 'a'), full);
  t.equal(store.config.get('agents', 'a')?.published, null);
  t.equal(store.config.get('agents', 'b'), undefined);
  t.equal(store.config.get('agents', '\n'), undefined);
  t.throws(() => store.config.put(store.batch('commons'), record('\n')), Invalid);
});

t.test('replaces the whole record on put, and forgets a removed one', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => store.config.put(batch, record('a', { user_overrides: { x: 1 } })));
  await write(store, (batch) => store.config.put(batch, record('a', { revision: 2 })));
  t.strictSame(store.config.get('models', 'a'), record('a', { revision: 2 }));
  await write(store, (batch) => store.config.remove(batch, 'models', 'a'));
  t.equal(store.config.get('models', 'a'), undefined);
  t.strictSame(store.config.list('models'), []);
});

const inByteOrder = (ids: string[]): string[] =>
  ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

t.test('orders a list by the bytes of its ids', async (t) => {
  const store = await storeFor(t);
  // A surrogate pair sorts before U+FFFD in UTF-16, but after it in bytes; long ids have a different encoding.
  const id = fc
    .oneof(anyText({ minLength: 1, maxLength: 90 }), fc.constantFrom('\ufffd', '😀', 'a', 'a!'))
    .filter(isId);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(id, { maxLength: 20 }), async (ids) => {
      await write(store, (batch) => {
        for (const each of ids) store.config.put(batch, record(each));
      });
      const listed = store.config.list('models').map((found) => found.id);
      await write(store, (batch) => {
        for (const each of ids) store.config.remove(batch, 'models', each);
      });
      t.strictSame(listed, inByteOrder(ids));
    }),
    { numRuns: 60 },
  );
});

t.test('starts a page at its offset, ends it with its namespace, and reads only its rows', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let n = 100; n < 400; n += 1) store.config.put(batch, record(`m${n}`));
    store.config.put(batch, record('x', { namespace: 'agents' }));
    store.config.put(batch, record('x', { namespace: 'providers' }));
  });
  const ids = (page?: { offset?: number; limit?: number }) =>
    store.config.list('models', page).map(({ id }) => id);
  const before = store.reads;
  t.strictSame(ids({ offset: 250, limit: 2 }), ['m350', 'm351']);
  t.equal(store.reads - before, 2);
  t.strictSame(ids({ offset: 299, limit: 5 }), ['m399']);
  t.strictSame(ids({ offset: 300 }), []);
  t.equal(ids().length, 300);
  t.equal(ids({ offset: 1 }).length, 299);
});

t.test('finds records that differ from the live ones without reading the others', async (t) => {
  const store = await storeFor(t);
  const live = { spec: { id: 'm7' }, hidden: false };
  await write(store, (batch) => {
    for (let n = 0; n < 50; n += 1) store.config.put(batch, record(`m${n}`));
    store.config.put(batch, record('m7', { published: live }));
    store.config.put(batch, record('x', { namespace: 'agents', published: null }));
    store.config.put(batch, record('y', { namespace: 'agents', published: null }));
  });
  const before = store.reads;
  t.strictSame(
    store.config.unpublished().map(({ namespace, id, published }) => [namespace, id, published]),
    [
      ['agents', 'x', null],
      ['agents', 'y', null],
      ['models', 'm7', live],
    ],
  );
  t.ok(store.reads - before <= 6);
  await write(store, (batch) => {
    store.config.put(batch, record('m7'));
    store.config.remove(batch, 'agents', 'x');
  });
  t.strictSame(
    store.config.unpublished().map(({ id }) => id),
    ['y'],
  );
});

t.test('stores a document under its name', async (t) => {
  const store = await storeFor(t);
  t.equal(store.documents.get('assistant'), undefined);
  await write(store, (batch) => store.documents.put(batch, 'assistant', { revision: 1 }));
  await write(store, (batch) => store.documents.put(batch, 'assistant', { revision: 2, model_id: null }));
  t.strictSame(store.documents.get('assistant'), { revision: 2, model_id: null });
  t.equal(store.documents.get('other'), undefined);
});

t.test('stores a record, its audit event and its publication in one commit', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  const id = ulidAt(1000, 1);
  await write(first, (batch) => {
    first.config.put(batch, record('a'));
    first.audit.put(batch, auditEvent(id));
    first.publications.put(batch, publication(1), [version('a', 1)]);
    first.documents.put(batch, 'd', { kept: true });
  });
  const copied = join(dir, 'copy');
  await first.backup(copied);
  await first.close();
  copyKey(dir, copied);
  for (const folder of [dir, copied]) {
    const again = await storeFor(t, { dir: folder });
    t.strictSame(again.config.get('models', 'a'), record('a'));
    t.strictSame(again.audit.page({ limit: 5 }).items, [auditEvent(id)]);
    t.strictSame(again.publications.latest('default'), publication(1));
    t.match(again.publications.version('default', 'model', 'a', 1), version('a', 1));
    t.strictSame(again.documents.get('d'), { kept: true });
  }
});
