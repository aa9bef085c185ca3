import t from 'tap';
import { createMeter } from '../../src/budgets/meter.ts';
import { sweepCounters } from '../../src/budgets/sweep.ts';
import { BudgetSpec } from '../../src/schema/budget.ts';
import type { Granted } from '../../src/schema/spending.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { SUBJECT } from './entries.ts';

const DAY = 86_400_000;

const start = async (t: { testdir(): string; teardown(end: () => Promise<void>): void }) => {
  const store = await openStore({ dir: t.testdir(), durability: 'process' });
  t.teardown(() => store.close());
  let now = Date.UTC(2026, 10, 28, 12);
  const create = (over: Store = store) =>
    createMeter({
      store: over,
      clock: { now: () => now },
      timer: { now: () => now, after: () => () => {} },
      observe() {},
      limited() {},
      onCommitFailed(error) {
        throw error;
      },
    });
  return {
    store,
    create,
    pass(ms: number) {
      now += ms;
    },
    now: () => now,
  };
};

const entry = (spec: object) =>
  BudgetSpec.parse({
    id: 'b',
    limits: { tokens: 1000 },
    window: { every: 'day' },
    on_exceeded: 'stop',
    ...spec,
  });

const spending = { agent: 'a', model: 'm', input: 100, output: 200, priceOf: () => undefined };
const NEVER = new AbortController().signal;

const granted = (allowance: unknown): Granted => {
  const found = allowance as Granted;
  if (found?.kind !== 'granted') throw new Error('is not granted');
  return found;
};

t.test('without a matching budget nothing is reserved, read or stored', async (t) => {
  const { store, create } = await start(t);
  const meter = create();
  t.equal(meter.isActive(), false);
  meter.apply([entry({ match: { agent: 'other' } })]);
  const account = meter.open({ payer: SUBJECT, isStored: true, notify() {} });
  const reads = store.reads;
  t.equal(account.reserve(spending, NEVER), undefined);
  const batch = store.batch();
  account.write(batch);
  account.close();
  t.equal(batch.writes.length, 0);
  t.equal(store.reads, reads);
});

t.test('stores what a commit keeps, one row per counter', async (t) => {
  const { store, create } = await start(t);
  const meter = create();
  meter.apply([entry({ per: ['user'] })]);
  const account = meter.open({ payer: SUBJECT, isStored: true, notify() {} });
  granted(account.reserve(spending, NEVER)).settle({ tokens: 150, usd: undefined });
  granted(account.reserve(spending, NEVER)).settle({ tokens: 50, usd: undefined });
  const batch = store.batch();
  account.write(batch);
  t.equal(batch.writes.length, 1);
  await store.commit(batch);
  const later = create();
  later.apply([entry({ per: ['user'] })]);
  t.strictSame(later.usage('b', 10), {
    items: [
      {
        key: { user: 'alice' },
        spent: { tokens: 200, usd: 0 },
        reserved: { tokens: 0, usd: 0 },
        limit: { tokens: 1000 },
        resets_at: Date.UTC(2026, 10, 29),
      },
    ],
  });
  t.equal(later.usage('unknown', 10), undefined);
});

t.test('usage lists the fullest counters of the window, with what is reserved', async (t) => {
  const { create } = await start(t);
  const meter = create();
  meter.apply([entry({ per: ['user'] })]);
  for (const [user, tokens] of [
    ['alice', 100],
    ['bob', 300],
    ['carol', 200],
  ] as const) {
    const account = meter.open({ payer: { ...SUBJECT, user }, isStored: true, notify() {} });
    granted(account.reserve(spending, NEVER)).settle({ tokens, usd: undefined });
    granted(account.reserve(spending, NEVER));
  }
  t.match(meter.usage('b', 2), {
    items: [
      { key: { user: 'bob' }, spent: { tokens: 300 }, reserved: { tokens: 300 } },
      { key: { user: 'carol' }, spent: { tokens: 200 } },
    ],
  });
});

t.test('an account that is closed stores the rest separately', async (t) => {
  const { store, create } = await start(t);
  const meter = create();
  meter.apply([entry({})]);
  const account = meter.open({ payer: SUBJECT, isStored: false, notify() {} });
  granted(account.reserve(spending, NEVER)).settle({ tokens: 10, usd: undefined });
  account.write(store.batch());
  t.equal(store.budgetCounters.all(undefined, 10).length, 0);
  const late = granted(account.reserve(spending, NEVER));
  account.close();
  late.settle({ tokens: 5, usd: undefined });
  // Commits are applied in their order.
  const next = store.batch();
  store.budgetCounters.remove(next, { budget: 'x', identity: '', combination: '', from: 0 });
  await store.commit(next);
  t.match(store.budgetCounters.all(undefined, 10), [{ tokens: 15 }]);
});

t.test('removes counters of past windows and ended runs, and keeps totals', async (t) => {
  const { store, create, now } = await start(t);
  const meter = create();
  meter.apply([
    entry({ id: 'daily' }),
    entry({ id: 'whole', window: { every: 'total' } }),
    BudgetSpec.parse({ id: 'per-run', per: ['run'], limits: { tokens: 1000 }, on_exceeded: 'stop' }),
  ]);
  const account = meter.open({ payer: SUBJECT, isStored: true, notify() {} });
  granted(account.reserve(spending, NEVER)).settle({ tokens: 10, usd: undefined });
  const batch = store.batch();
  account.write(batch);
  await store.commit(batch);
  t.equal(await sweepCounters(store, now()), 0);
  t.equal(await sweepCounters(store, now() + 2 * DAY), 2);
  t.match(store.budgetCounters.all(undefined, 10), [{ budget: 'whole' }]);
});
