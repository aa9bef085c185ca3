import t from 'tap';
import { Integrity } from '../../src/schema/outcome.ts';
import { publication, version } from './config-rows.ts';
import { storeFor } from './open.ts';
import { write } from './records.ts';

t.test('reads a publication back in the order of its entries', async (t) => {
  const store = await storeFor(t);
  const full = publication(3, {
    entries: [
      { kind: 'agent', id: 'a', version: 7 },
      { kind: 'agent', id: 'b', version: 1 },
      { kind: 'model_pool', id: 'a', version: 300 },
      { kind: 'agent', id: 'late', version: 2 },
    ],
    source_config_revisions: [
      { namespace: 'agents', id: 'b', revision: 12 },
      { namespace: 'mcp-servers', id: 'x', revision: 1 },
    ],
    created_by: 'ci',
    metadata: { reason: { kind: 'write' } },
  });
  const empty = publication(4, { entries: [], source_config_revisions: [] });
  await write(store, (batch) => {
    store.publications.put(batch, full, []);
    store.publications.put(batch, empty, []);
  });
  t.strictSame(store.publications.get('default', 3), full);
  t.strictSame(store.publications.get('default', 4), empty);
  t.equal(store.publications.get('default', 5), undefined);
  t.equal(store.publications.get('other', 3), undefined);
});

t.test('returns the publication with the highest number of a scope as the latest', async (t) => {
  const store = await storeFor(t);
  t.equal(store.publications.latest('default'), undefined);
  for (const number of [1, 2, 10, 9]) {
    await write(store, (batch) => store.publications.put(batch, publication(number), []));
  }
  await write(store, (batch) => store.publications.put(batch, publication(99, { scope_id: 'default2' }), []));
  t.equal(store.publications.latest('default')?.snapshot_version, 10);
  t.equal(store.publications.latest('default2')?.snapshot_version, 99);
  t.equal(store.publications.latest(''), undefined);
});

t.test('keeps every version of a resource, and finds the latest without its value', async (t) => {
  const store = await storeFor(t);
  const versions = Array.from({ length: 12 }, (_, n) => version('a', n + 1, { value: { n } }));
  await write(store, (batch) =>
    store.publications.put(batch, publication(1), [...versions, version('a', 40, { kind: 'agent' })]),
  );
  const published_at_ms = publication(1).created_at_ms;
  t.strictSame(store.publications.version('default', 'model', 'a', 3), { ...versions[2], published_at_ms });
  t.strictSame(store.publications.latestVersion('default', 'model', 'a'), {
    kind: 'model',
    id: 'a',
    version: 12,
    hash: 'sha256:12',
    published_at_ms,
  });
  const page = (more: object) =>
    store.publications
      .versions('model', 'a', { scope: 'default', limit: 3, ...more })
      .map((mark) => mark.version);
  t.strictSame(page({}), [12, 11, 10]);
  t.strictSame(page({ before: 3 }), [2, 1]);
  t.equal(store.publications.latestVersion('default', 'agent', 'a')?.version, 40);
  t.equal(store.publications.latestVersion('default', 'model', 'b'), undefined);
  t.equal(store.publications.version('default', 'model', 'a', 13), undefined);
  for (const id of ['', 'x'.repeat(2000)]) {
    t.equal(
      store.publications.latestVersion('default', 'model', id),
      undefined,
      'an invalid id has no version',
    );
    t.equal(store.publications.latestVersion(id, 'model', 'a'), undefined, 'an invalid scope has no version');
    t.equal(store.publications.version('default', 'model', id, 1), undefined);
  }
});

t.test('leaves versions of previews out of the list until they are published', async (t) => {
  const store = await storeFor(t);
  const preview = publication(2, { metadata: { preview: true, live: '1' } });
  const listed = () =>
    store.publications.versions('model', 'a', { scope: 'default', limit: 9 }).map((mark) => mark.version);
  await write(store, (batch) => store.publications.put(batch, publication(1), [version('a', 1)]));
  await write(store, (batch) => store.publications.put(batch, preview, [version('a', 2)]));
  t.strictSame(listed(), [1]);
  await write(store, (batch) => store.publications.put(batch, publication(3), [], [version('a', 2)]));
  t.strictSame(listed(), [2, 1]);
});

t.test('rejects rewriting a publication, and does not commit its batch', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => store.publications.put(batch, publication(1), [version('a', 1)]));
  const batch = store.batch('commons');
  t.throws(() => store.publications.put(batch, publication(1, { created_by: 'x' }), []), {
    name: 'Integrity',
    message: "publication 1 exists in scope 'default' and cannot be written again",
  });
  t.throws(() => store.publications.put(batch, publication(2), [version('a', 1)]), Integrity);
  t.strictSame(store.publications.latest('default'), publication(1));
});

t.test('needs no read or write per entry for a publication of 1,000 entries', async (t) => {
  const store = await storeFor(t);
  const ids = Array.from({ length: 1000 }, (_, n) => `resource-${10_000 + n}`);
  const large = publication(1, {
    entries: ids.map((id) => ({ kind: 'agent', id, version: 12 })),
    source_config_revisions: ids.map((id) => ({ namespace: 'agents', id, revision: 12 })),
  });
  const batch = store.batch('commons');
  const before = store.reads;
  store.publications.put(batch, large, [version('resource-10000', 12, { kind: 'agent' })]);
  t.equal(batch.writes.length, 2);
  t.equal(store.reads - before, 2);
  const [bytes = 0] = batch.writes
    .flatMap((write) => (write.kind === 'put' ? [write.value.length] : []))
    .sort((one, other) => other - one);
  t.ok(bytes < 40_000, `${bytes} bytes; kinds and names of keys are stored once`);
  await store.commit(batch);
  t.strictSame(store.publications.latest('default'), large);
});
