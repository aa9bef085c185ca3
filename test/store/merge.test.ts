import t from 'tap';
import type { Page, Store } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from './open.ts';
import { run, SCOPE, threadRecord, write } from './records.ts';

/** Lists that are read from several ranges, compared with one array of all their rows. */

const page = (store: Store, scope: string, of: Page) => {
  const { items, ...rest } = store.threads.list(scope, {}, of);
  return { ...rest, ids: items.map(({ thread }) => thread.id) };
};

t.test('lists threads with and without a parent in pages of the whole list', async (t) => {
  const store = await storeFor(t);
  let round = 0;
  const kinds = fc.array(fc.record({ child: fc.boolean(), at: fc.nat({ max: 12 }) }), { maxLength: 14 });
  const property = fc.asyncProperty(kinds, fc.integer({ min: 1, max: 4 }), async (all, limit) => {
    round += 1;
    const scope = `scope${round}`;
    const records = all.map(({ child, at }, index) =>
      threadRecord(`t${index}`, at, child ? { parent_thread_id: 'p' } : {}),
    );
    await write(store, (batch) => {
      for (const record of records) store.threads.put(batch, scope, record, undefined);
    });
    const inOrder = records
      .map(({ thread }) => ({ id: thread.id, at: thread.metadata.updated_at ?? 0 }))
      .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    for (let offset = 0; offset <= all.length + 1; offset += 1) {
      const found = page(store, scope, { offset, limit });
      t.strictSame(found.ids, inOrder.slice(offset, offset + limit));
      t.equal(found.total, all.length);
      t.equal(found.next !== undefined, offset + limit < all.length);
      t.equal(found.prev !== undefined, offset > 0 && all.length > 0);
      if (found.next) {
        const next = page(store, scope, { offset: 0, limit, after: found.next });
        t.strictSame(next.ids, inOrder.slice(offset + limit, offset + 2 * limit));
        t.equal(next.offset, offset + limit);
      }
      if (found.prev && offset <= all.length) {
        const prev = page(store, scope, { offset: 0, limit, after: found.prev });
        const start = Math.max(0, offset - limit);
        t.strictSame(prev.ids, inOrder.slice(start, start + limit));
        t.equal(prev.offset, start);
      }
    }
  });
  await t.resolves(fc.assert(property, { numRuns: 40, seed: 5 }));
});

t.test('lists runs of all statuses in order from any offset', async (t) => {
  const store = await storeFor(t);
  const statuses = ['done', 'running', 'waiting', 'created'] as const;
  const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
  await write(store, (batch) => {
    for (const [index, id] of ids.entries()) {
      const status = index < 20 ? 'done' : (statuses[index % 4] ?? 'done');
      store.runs.put(batch, SCOPE, run(id, { status }), undefined);
    }
  });
  for (let offset = 0; offset < ids.length; offset += 1) {
    const { items, total } = store.runs.list(SCOPE, {}, { offset, limit: 7 });
    t.strictSame(
      items.map(({ run_id }) => run_id),
      ids.slice(offset, offset + 7),
    );
    t.equal(total, ids.length);
  }
});
