import t from 'tap';
import { createAccess, type Right } from '../../src/identity/access/access.ts';
import { type GrantWord, parseGrants } from '../../src/schema/grants.ts';
import { Conflict, Forbidden } from '../../src/schema/outcome.ts';
import { ownerOf, partitionOf } from '../../src/schema/partition.ts';
import { adminIn, anonymousIn, type Principal } from '../../src/schema/principal.ts';
import type { Visibility } from '../../src/schema/thread.ts';
import { uidOf } from '../../src/schema/thread-uid.ts';
import { examine, type Store } from '../../src/store/index.ts';
import fc from '../random.ts';
import { storeFor } from '../store/open.ts';
import { dispatch, run, threadRecord, write } from '../store/records.ts';

/** identity.md 1.3 to 1.5, checks 45 and 51. */

const principal = (scope: string, user: string, ...grants: string[]): Principal => ({
  scope,
  user,
  authority: [parseGrants(grants)],
  credential: { kind: 'key', id: `key-of-${user}` },
});

type Owned = { id: string; owner: string | undefined; visibility: Visibility };

const fill = (store: Store, owned: readonly Owned[]) =>
  write(store, (batch) => {
    for (const [index, { id, owner, visibility }] of owned.entries()) {
      const scope = partitionOf({ scope: 'acme', user: owner });
      const shared = visibility !== 'private';
      store.threads.put(batch, scope, threadRecord(id, index, { visibility }), undefined);
      store.runs.put(batch, scope, run(`run-of-${id}`, { thread_id: id }), undefined, 5, shared);
    }
  });

/** The model: identity.md 1.3. */
const has = (word: GrantWord, grants: readonly string[], value?: string): boolean =>
  grants.includes(value === undefined ? word : `${word}:${value}`);

const mayRead = (
  user: string | undefined,
  grants: readonly string[],
  { owner, visibility }: Owned,
): boolean =>
  user === owner ||
  has('read', grants, 'all') ||
  has('write', grants, 'all') ||
  (user !== undefined && visibility !== 'private');

const mayWrite = (
  user: string | undefined,
  grants: readonly string[],
  { owner, visibility }: Owned,
): boolean =>
  has('invoke', grants) && (user === owner || has('write', grants, 'all') || visibility === 'write');

const mayDecide = (user: string, grants: readonly string[], thread: Owned): boolean =>
  has('decide', grants) &&
  (user === thread.owner ||
    has('read', grants, 'all') ||
    has('write', grants, 'all') ||
    thread.visibility === 'write');

const outcomeOf = (
  look: () => { scope: string },
  own: string,
): 'granted' | 'refused' | 'unknown' | 'several' => {
  try {
    return look().scope === own ? 'unknown' : 'granted';
  } catch (error) {
    if (error instanceof Forbidden) return 'refused';
    if (error instanceof Conflict) return 'several';
    throw error;
  }
};

const users = fc.constantFrom('alice', 'bob', 'carol');
const grants = fc.subarray(['invoke', 'read:own', 'read:all', 'write:all', 'decide'], { minLength: 1 });
const threads = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('t1', 't2', 't3', 't4', 't5'),
    owner: fc.option(users, { nil: undefined }),
    visibility: fc.constantFrom<Visibility>('private', 'read', 'write'),
  }),
  { selector: ({ id }) => id },
);

t.test('grants exactly what ownership, visibility and grants allow', async (t) => {
  await fc.assert(
    fc.asyncProperty(threads, users, grants, async (owned, user, given) => {
      const store = await storeFor(t);
      await fill(store, owned);
      const access = createAccess(store);
      const who = principal('acme', user, ...given);
      const own = partitionOf(who);
      for (const thread of owned) {
        if (thread.owner === user) continue;
        const expected = (right: Right) => {
          if (!mayRead(user, given, thread)) return 'unknown';
          if (right === 'read') return 'granted';
          const allowed = right === 'write' ? mayWrite : mayDecide;
          return allowed(user, given, thread) ? 'granted' : 'refused';
        };
        for (const right of ['read', 'write', 'decide'] as const) {
          t.equal(
            outcomeOf(() => access.thread(who, thread.id, right), own),
            expected(right),
          );
          t.equal(
            outcomeOf(() => access.run(who, `run-of-${thread.id}`, right), own),
            expected(right),
          );
        }
      }
      const visible = owned.filter((thread) => mayRead(user, given, thread)).map(({ id }) => id);
      const page = { offset: 0, limit: 10 };
      const listed = store.threads.list(access.lists(who), {}, page);
      t.strictSame(listed.items.map(({ thread }) => thread.id).sort(), [...visible].sort());
      t.equal(listed.total, visible.length);
      for (const sort of ['created', '-changed'] as const) {
        const runs = store.runs.list(access.lists(who), {}, { ...page, sort });
        t.strictSame(runs.items.map(({ thread_id }) => thread_id).sort(), [...visible].sort());
        t.equal(runs.total, visible.length);
      }
      const tasks = store.tasks.list(access.lists(who), {}, { limit: 10 });
      t.strictSame(tasks.places.map(({ id }) => id.slice(7)).sort(), [...visible].sort());
      t.equal(tasks.total, visible.length);
      await store.close();
    }),
    { numRuns: 40 },
  );
});

t.test('shows requests without a user what has no owner, and admins everything', async (t) => {
  const store = await storeFor(t);
  await fill(store, [
    { id: 'free', owner: undefined, visibility: 'private' },
    { id: 'hers', owner: 'alice', visibility: 'write' },
  ]);
  const access = createAccess(store);
  const page = { offset: 0, limit: 10 };
  const idsFor = (who: Principal) =>
    store.threads.list(access.lists(who), {}, page).items.map(({ thread }) => thread.id);
  t.strictSame(idsFor(anonymousIn('acme')), ['free']);
  t.strictSame(idsFor(adminIn('acme')), ['hers', 'free']);
  t.strictSame(idsFor(adminIn('globex')), []);
  t.strictSame(access.thread(anonymousIn('acme'), 'hers', 'read'), { scope: 'acme', id: 'hers' });
  t.equal(ownerOf(access.thread(adminIn('acme'), 'hers', 'write').scope), 'alice');
  t.equal(access.thread(adminIn('globex'), 'hers', 'write').scope, 'globex');
});

t.test('resolves a name to the own thread, and asks for the uid when several are visible', async (t) => {
  const store = await storeFor(t);
  await fill(store, [
    { id: 't1', owner: 'alice', visibility: 'private' },
    { id: 't1', owner: 'bob', visibility: 'private' },
  ]);
  const access = createAccess(store);
  const alice = principal('acme', 'alice', 'member');
  const bobs = partitionOf({ scope: 'acme', user: 'bob' });
  t.strictSame(access.thread(alice, 't1', 'write'), { scope: partitionOf(alice), id: 't1' });
  const reader = principal('acme', 'carol', 'viewer');
  t.throws(() => access.thread(reader, 't1', 'read'), {
    message: "'t1' names more than one thread: use its uid",
  });
  const uid = uidOf(bobs, 't1') ?? '';
  t.strictSame(access.thread(reader, uid, 'read'), { scope: bobs, id: 't1' });
  t.equal(access.thread(alice, uid, 'read').scope, partitionOf(alice), 'unknown to others');
});

t.test('the id of a thread without an owner is its uid', async (t) => {
  const store = await storeFor(t);
  await fill(store, [
    { id: 't1', owner: undefined, visibility: 'private' },
    { id: 't1', owner: 'bob', visibility: 'private' },
  ]);
  const access = createAccess(store);
  const reader = principal('acme', 'carol', 'viewer');
  t.strictSame(access.thread(reader, 't1', 'read'), { scope: 'acme', id: 't1' });
  const bobs = partitionOf({ scope: 'acme', user: 'bob' });
  t.strictSame(access.thread(reader, uidOf(bobs, 't1') ?? '', 'read'), { scope: bobs, id: 't1' });
});

t.test('walks a list across partitions by positions', async (t) => {
  const store = await storeFor(t);
  const owned = Array.from({ length: 12 }, (_, index) => ({
    id: `t${index % 4}`,
    owner: ['alice', 'bob', 'dora'][Math.floor(index / 4)],
    visibility: 'read' as const,
  }));
  await fill(store, owned);
  const lists = createAccess(store).lists(principal('acme', 'carol', 'member'));
  let found = 0;
  let after: Parameters<Store['threads']['list']>[2]['after'];
  do {
    const page = store.threads.list(lists, {}, { offset: 0, limit: 5, ...(after && { after }) });
    found += page.items.length;
    t.equal(page.total, 12);
    after = page.next;
  } while (after);
  t.equal(found, 12);
  let tasks = 0;
  let last: Parameters<Store['tasks']['list']>[2]['after'];
  do {
    const page = store.tasks.list(lists, {}, { limit: 5, ...(last && { after: last }) });
    tasks += page.places.length;
    last = page.next;
  } while (last);
  t.equal(tasks, 12);
});

t.test('lists of owners are derived from the records', async (t) => {
  const dir = t.testdir();
  const store = await storeFor(t, { dir });
  await fill(store, [
    { id: 't1', owner: 'alice', visibility: 'private' },
    { id: 't2', owner: 'alice', visibility: 'write' },
    { id: 't3', owner: undefined, visibility: 'read' },
  ]);
  await store.close();
  const { findings } = await examine({ dir });
  t.strictSame(findings, []);
});

t.test('finds a hidden id with the reads of one that was never used', async (t) => {
  const store = await storeFor(t);
  await fill(store, [{ id: 'hers', owner: 'alice', visibility: 'private' }]);
  const scope = partitionOf({ scope: 'acme', user: 'alice' });
  await write(store, (batch) =>
    store.dispatches.put(batch, scope, dispatch('work-of-hers', { thread_id: 'hers' }), undefined),
  );
  const access = createAccess(store);
  const readsOf = (look: () => unknown): number => {
    const before = store.reads;
    look();
    return store.reads - before;
  };
  const hidden = ['hers', 'run-of-hers', 'work-of-hers', uidOf(scope, 'hers') ?? ''];
  for (const right of ['read', 'write', 'decide'] as const) {
    for (const user of [principal('acme', 'bob', 'invoke'), principal('globex', 'carol', 'read:all')]) {
      for (const id of hidden) {
        const unused = id.replace('hers', 'none');
        for (const kind of ['thread', 'run', 'work'] as const) {
          const more =
            readsOf(() => access[kind](user, id, right)) - readsOf(() => access[kind](user, unused, right));
          // The key of a name is counted when it is found; the search for it takes place in any case.
          const most = id.startsWith('work') && kind === 'work' ? 1 : 0;
          t.ok(more <= most, `${kind} ${id} by ${user.user}, ${right}: ${more} more`);
        }
      }
    }
  }
});
