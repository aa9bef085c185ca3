import t from 'tap';
import { ownedIn, partitionOf, sharedIn } from '../../src/schema/partition.ts';
import type { Visibility } from '../../src/schema/thread.ts';
import type { Page, Position, Store, ThreadFilter, ThreadRecord } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from './open.ts';
import { SCOPE, threadRecord, write } from './records.ts';

const ids = (records: ThreadRecord[]): string[] => records.map(({ thread }) => thread.id);

const put = (store: Store, records: ThreadRecord[]) =>
  write(store, (batch) => {
    for (const record of records) store.threads.put(batch, SCOPE, record, undefined);
  });

t.test('lists threads by time of change descending, then by id', async (t) => {
  const store = await storeFor(t);
  const neverChanged = { thread: { id: 'c', metadata: { created_at: 7 } }, epoch: 0 };
  const timeless = { thread: { id: 'z', metadata: {} }, epoch: 0 };
  await put(store, [
    timeless,
    threadRecord('b', 7),
    threadRecord('a', 7),
    threadRecord('d', 9),
    neverChanged,
  ]);
  const { items, total } = store.threads.list(SCOPE, {}, { offset: 0, limit: 10 });
  t.strictSame(ids(items), ['d', 'a', 'b', 'c', 'z']);
  t.equal(total, 5);
  t.equal(store.threads.list('other', {}, { offset: 0, limit: 10 }).total, 0);
});

const walk = (
  store: Store,
  filter: ThreadFilter,
  limit: number,
  onPage: (page: number) => void = () => {},
) => {
  const pages: { ids: string[]; offset: number; prev?: Position }[] = [];
  let page: Page | undefined = { offset: 0, limit };
  while (page) {
    const { items, offset, next, prev } = store.threads.list(SCOPE, filter, page);
    pages.push({ ids: ids(items), offset, ...(prev && { prev }) });
    onPage(pages.length);
    page = next && { offset: 0, limit, after: JSON.parse(JSON.stringify(next)) };
  }
  return pages;
};

t.test('shows every thread once in a walk by positions in both directions', async (t) => {
  const store = await storeFor(t);
  await put(
    store,
    Array.from({ length: 23 }, (_, i) => threadRecord(`t${i}`, Math.floor(i / 3))),
  );
  const all = ids(store.threads.list(SCOPE, {}, { offset: 0, limit: 100 }).items);
  const pages = walk(store, {}, 5);
  t.strictSame(
    pages.flatMap((page) => page.ids),
    all,
  );
  t.strictSame(
    pages.map((page) => page.offset),
    [0, 5, 10, 15, 20],
  );
  t.equal(pages[0]?.prev, undefined);
  for (const [index, page] of pages.entries()) {
    if (!page.prev) continue;
    const before = store.threads.list(SCOPE, {}, { offset: 0, limit: 5, after: page.prev });
    t.strictSame(ids(before.items), pages[index - 1]?.ids);
    t.equal(before.offset, pages[index - 1]?.offset);
  }
  t.strictSame(ids(store.threads.list(SCOPE, {}, { offset: 21, limit: 5 }).items), all.slice(21));
  const beyond = store.threads.list(SCOPE, {}, { offset: 40, limit: 5 });
  t.strictSame([beyond.items, beyond.offset, beyond.next], [[], 40, undefined]);
  const last = store.threads.list(SCOPE, {}, { offset: 0, limit: 5, after: beyond.prev as Position });
  t.strictSame([ids(last.items), last.offset], [all.slice(-5), 18]);
});

t.test('neither skips nor repeats unchanged threads while others move', async (t) => {
  const store = await storeFor(t);
  const records = Array.from({ length: 30 }, (_, i) => threadRecord(`t${i}`, 1000 - i));
  await put(store, records);
  const moving = records.filter((_, i) => i % 3 === 0);
  const seen: string[] = [];
  let page: Page | undefined = { offset: 0, limit: 4 };
  let clock = 2000;
  while (page) {
    const { items, next } = store.threads.list(SCOPE, {}, page);
    seen.push(...ids(items));
    await write(store, (batch) => {
      for (const [i, record] of moving.entries()) {
        clock += 1;
        const after = threadRecord(record.thread.id, clock);
        store.threads.put(batch, SCOPE, after, moving[i]);
        moving[i] = after;
      }
    });
    page = next && { offset: 0, limit: 4, after: next };
  }
  const still = records.filter((_, i) => i % 3 !== 0).map(({ thread }) => thread.id);
  t.strictSame(
    seen.filter((id) => still.includes(id)),
    still,
  );
});

t.test('reads only the threads that a page shows', async (t) => {
  const store = await storeFor(t);
  const records = Array.from({ length: 5000 }, (_, i) => threadRecord(`t${i}`, i, { resource_id: 'shared' }));
  await put(store, records);
  const cost = (page: Page, filter: ThreadFilter = {}) => {
    const before = store.reads;
    store.threads.list(SCOPE, filter, page);
    return store.reads - before;
  };
  t.ok(cost({ offset: 0, limit: 50 }) <= 105, 'first page');
  t.ok(cost({ offset: 4000, limit: 50 }, { resource_id: 'shared' }) <= 110, 'deep page by offset');
  const { next } = store.threads.list(SCOPE, {}, { offset: 2000, limit: 50 });
  t.ok(cost({ offset: 0, limit: 50, after: next as Position }) <= 110, 'deep page by position');
});

t.test('returns direct children only', async (t) => {
  const store = await storeFor(t);
  await put(store, [
    threadRecord('a', 1),
    threadRecord('b', 2, { parent_thread_id: 'a' }),
    threadRecord('c', 3, { parent_thread_id: 'b' }),
    threadRecord('d', 4, { parent_thread_id: 'a' }),
  ]);
  t.strictSame(store.threads.children(SCOPE, 'a').sort(), ['b', 'd']);
  t.strictSame(store.threads.children(SCOPE, 'c'), []);
});

t.test(
  'lists the children of one thread, not those of another owner whose thread has the same id',
  async (t) => {
    const store = await storeFor(t);
    const of = (user: string | undefined): string => partitionOf({ scope: 'acme', user });
    const child = (name: string, at: number, visibility: Visibility) =>
      threadRecord(name, at, { parent_thread_id: 'p', visibility });
    await write(store, (batch) => {
      for (const [user, record] of [
        ['alice', child('a1', 1, 'read')],
        ['alice', child('a2', 2, 'private')],
        ['alice', child('a3', 3, 'write')],
        ['bob', child('b1', 4, 'read')],
        ['bob', child('b2', 5, 'private')],
        [undefined, child('c1', 6, 'read')],
        ['alice', threadRecord('q1', 7, { parent_thread_id: 'q', visibility: 'read' })],
      ] as const) {
        store.threads.put(batch, of(user), record, undefined);
      }
    });
    const [bobs, all] = [
      [of('bob'), sharedIn('acme')],
      ['acme', ownedIn('acme')],
    ];
    for (const [lists, user, parent, expected] of [
      [bobs, 'bob', 'p', ['b2', 'b1']],
      [bobs, 'alice', 'p', ['a3', 'a1']],
      [bobs, undefined, 'p', ['c1']],
      [bobs, 'bob', 'q', []],
      [bobs, 'alice', 'q', ['q1']],
      [bobs, 'carol', 'p', []],
      [all, 'alice', 'p', ['a3', 'a2', 'a1']],
      [all, undefined, 'p', ['c1']],
      ['acme', undefined, 'p', ['c1']],
    ] as const) {
      const filter = { parent: { scope: of(user), id: parent } };
      const name = `${parent} of ${user} in ${lists}`;
      const whole = store.threads.list(lists, filter, { offset: 0, limit: 10 });
      t.strictSame(ids(whole.items), expected, name);
      t.equal(whole.total, expected.length, name);
      t.strictSame(store.threads.listIds(lists, filter, { offset: 0, limit: 10 }).items, expected, name);
      const walked: string[] = [];
      for (let after: Position | undefined = { key: null, offset: 0 }; after; ) {
        const page = store.threads.listIds(lists, filter, { offset: 0, limit: 1, after });
        t.equal(page.total, expected.length, name);
        walked.push(...page.items);
        after = page.next;
      }
      t.strictSame(walked, expected, `pages of ${name}`);
      const behind = store.threads.listIds(lists, filter, { offset: 1, limit: 10 });
      t.strictSame(behind.items, expected.slice(1), `${name} by offset`);
    }
  },
);

const RESOURCES = [undefined, 'r1', 'a much longer resource id '.repeat(40), 'tenant/\u0000/7'];
const PARENTS = [undefined, 'p1', 'p2'];

const filtersIn = (scope: string): ThreadFilter[] =>
  RESOURCES.flatMap((resource_id) =>
    [
      {},
      { root: true },
      { root: false },
      { parent: { scope, id: 'p1' } },
      { parent: { scope, id: 'p2' } },
    ].map((kin) => ({
      ...kin,
      ...(resource_id !== undefined && { resource_id }),
    })),
  );

const matches =
  (filter: ThreadFilter) =>
  ({ thread }: ThreadRecord): boolean =>
    (filter.resource_id === undefined || thread.resource_id === filter.resource_id) &&
    (filter.parent === undefined || thread.parent_thread_id === filter.parent.id) &&
    (!filter.root || thread.parent_thread_id === undefined);

const inOrder = (a: ThreadRecord, b: ThreadRecord): number =>
  (b.thread.metadata.updated_at ?? 0) - (a.thread.metadata.updated_at ?? 0) ||
  (a.thread.id < b.thread.id ? -1 : 1);

t.test('matches lists and totals of a plain model for every filter', async (t) => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    remove: fc.boolean(),
    updated_at: fc.nat({ max: 9 }),
    resource_id: fc.constantFrom(...RESOURCES),
    parent_thread_id: fc.constantFrom(...PARENTS),
    awaited: fc.boolean(),
  });
  const store = await storeFor(t);
  let runs = 0;
  const property = fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
    runs += 1;
    const scope = `scope${runs}`;
    const model = new Map<string, ThreadRecord>();
    const commits: Promise<void>[] = [];
    for (const { id, remove, updated_at, resource_id, parent_thread_id, awaited } of changes) {
      const batch = store.batch('commons');
      const before = model.get(id);
      if (remove) {
        if (before) store.threads.remove(batch, scope, before);
        model.delete(id);
      } else {
        const after = threadRecord(id, updated_at, {
          ...(resource_id !== undefined && { resource_id }),
          ...(parent_thread_id !== undefined && { parent_thread_id }),
        });
        store.threads.put(batch, scope, after, before);
        model.set(id, after);
      }
      commits.push(store.commit(batch));
      if (awaited) await Promise.all(commits);
    }
    await Promise.all(commits);
    for (const filter of filtersIn(scope)) {
      const expected = Array.from(model.values()).filter(matches(filter)).sort(inOrder);
      const { items, total } = store.threads.list(scope, filter, { offset: 0, limit: 100 });
      if (total !== expected.length || JSON.stringify(ids(items)) !== JSON.stringify(ids(expected)))
        return false;
    }
    return true;
  });
  await t.resolves(fc.assert(property, { numRuns: 60, seed: 42 }));
});
