import t, { type Test } from 'tap';
import { sweepUsage } from '../../src/budgets/sweep.ts';
import { createUsageBook } from '../../src/budgets/usage-book.ts';
import { reportUsage } from '../../src/budgets/usage-report.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';

/** The sums of usage and their rows. */

const AT = Date.parse('2026-11-27T23:59:59.999Z');
const ALL = { since: '0000-01-01', until: '9999-12-31' };

const open = async (t: Test) => {
  const store = await storeFor(t);
  const clock = { at: AT, now: () => clock.at };
  const failures: unknown[] = [];
  const book = createUsageBook({ store, clock, onCommitFailed: (error) => failures.push(error) });
  const sums = (by: 'user' | 'agent' | 'model' | 'day', more: { user?: string; limit?: number } = {}) =>
    reportUsage(store.usage, {
      scope: 's',
      user: undefined,
      period: ALL,
      by: [by],
      after: undefined,
      limit: 100,
      ...more,
    });
  return { store, clock, book, sums, failures };
};

/** Resolves when readers see the commits so far: commits are applied in their order. */
const earlierCommits = (store: Store): Promise<void> => {
  const batch = store.batch('commons');
  store.usage.remove(batch, { scope: 'none', day: '2026-01-01', user: '', agent: '', model: '' });
  return store.commit(batch);
};

const used = (input: number) => ({ agent: 'a', model: 'm', inferences: 1, input, output: 1, usd: 1e-6 });

t.test('a run that is not stored makes one commit at its end', async (t) => {
  const { store, book, sums } = await open(t);
  const run = book.open({ scope: 's', user: 'u', isStored: false });
  const batch = store.batch('commons');
  run.note(used(5));
  run.write(batch);
  run.note(used(6));
  t.equal(batch.writes.length, 0);
  run.close();
  await earlierCommits(store);
  t.match((await sums('user')).items, [{ user: 'u', inferences: 2, input_tokens: 11, usd: 2e-6 }]);
});

t.test('what a stored run notes after its last commit is not stored', async (t) => {
  const { store, book, sums } = await open(t);
  const run = book.open({ scope: 's', user: 'u', isStored: true });
  run.note(used(5));
  const batch = store.batch('commons');
  run.write(batch);
  t.equal(batch.writes.length, 1, 'one row for all notes of a model');
  await store.commit(batch);
  run.note(used(6));
  run.close();
  await earlierCommits(store);
  t.match((await sums('user')).items, [{ input_tokens: 5 }]);
});

t.test('sums of commits in progress are exact', async (t) => {
  const { store, book, sums } = await open(t);
  const commits = Array.from({ length: 50 }, (_, index) => {
    const run = book.open({ scope: 's', user: `u${index % 2}`, isStored: true });
    run.note(used(1));
    run.note({ ...used(2), model: 'other' });
    const batch = store.batch('commons');
    run.write(batch);
    return store.commit(batch);
  });
  await Promise.all(commits);
  t.match((await sums('model')).items, [
    { model: 'm', inferences: 50, input_tokens: 50 },
    { model: 'other', inferences: 50, input_tokens: 100 },
  ]);
  t.match((await sums('model', { user: 'u1' })).items, [{ inferences: 25 }, { inferences: 25 }]);
});

t.test('usage of the days before the retention is removed, of every scope', async (t) => {
  const { store, clock, book, sums } = await open(t);
  for (const day of [0, 1, 2]) {
    clock.at = AT + day * 86_400_000;
    for (const scope of ['s', 'other'])
      for (let index = 0; index < 600; index += 1) {
        const batch = store.batch('commons');
        book.add(batch, { scope, user: `u${index}` }, used(1));
        void store.commit(batch);
      }
  }
  await earlierCommits(store);
  t.equal(await sweepUsage(store, AT + 86_400_000), 1200);
  t.match((await sums('day')).items, [
    { day: '2026-11-28', inferences: 600 },
    { day: '2026-11-29', inferences: 600 },
  ]);
  t.equal([...store.usage.inPeriod('other', ALL, undefined, 10_000)].length, 1200);
  t.equal([...store.usage.ofUser('s', 'u7', ALL)].length, 2);
});

t.test('users, agents and models may have any text as id', async (t) => {
  const { store, book, sums } = await open(t);
  const users = ['~anonymous', 'é'.repeat(100), 'x'.repeat(256), 'a/b'];
  for (const user of users) {
    const batch = store.batch('commons');
    book.add(batch, { scope: 's', user }, used(1));
    await store.commit(batch);
  }
  const { items } = await sums('user');
  t.same(
    items.map(({ user }) => user),
    [...users].sort(),
  );
  for (const user of users) t.equal([...store.usage.ofUser('s', user, ALL)].length, 1);
});
