import t from 'tap';
import { createMeter } from '../../src/budgets/meter.ts';
import { sweepCounters } from '../../src/budgets/sweep.ts';
import { BudgetSpec, type ReachedLimit } from '../../src/schema/budget.ts';
import type { Exceeded, Granted } from '../../src/schema/spending.ts';
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
      raised() {},
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

const PAUSES = { on_exceeded: 'pause' };

const exceeded = (allowance: unknown): ReachedLimit => {
  const found = allowance as Exceeded;
  if (found?.kind !== 'exceeded' || !found.pause) throw new Error('is not paused');
  return found.pause;
};

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
  const batch = store.batch('commons');
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
  const batch = store.batch('commons');
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
        extra: { tokens: 0, usd: 0 },
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
  account.write(store.batch('commons'));
  t.equal(store.budgetCounters.all(undefined, 10).length, 0);
  const late = granted(account.reserve(spending, NEVER));
  account.close();
  late.settle({ tokens: 5, usd: undefined });
  // Commits are applied in their order.
  const next = store.batch('commons');
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
  const batch = store.batch('commons');
  account.write(batch);
  await store.commit(batch);
  t.equal(await sweepCounters(store, now()), 0);
  t.equal(await sweepCounters(store, now() + 2 * DAY), 2);
  t.match(store.budgetCounters.all(undefined, 10), [{ budget: 'whole' }]);
});

/** A meter whose counter of 1000 tokens has no room, and the accounts of two runs. */
const full = async (t: Parameters<typeof start>[0]) => {
  const started = await start(t);
  const { store, create } = started;
  const meter = create();
  meter.apply([entry(PAUSES)]);
  const open = (run: string, isStored = true) =>
    meter.open({ payer: { ...SUBJECT, run }, isStored, notify() {} });
  const [one, other] = [open('one'), open('other')];
  granted(one.reserve(spending, NEVER)).settle({ tokens: 1000, usd: undefined });
  const keep = async (account: typeof one) => {
    const batch = store.batch('commons');
    account.write(batch);
    await store.commit(batch);
  };
  await keep(one);
  const raise = async (wait: ReachedLimit, tokens: number, run?: string) => {
    const batch = store.batch('commons');
    const by = { extra: { tokens }, run_only: run !== undefined };
    meter.raise(batch, { wait, subject: { ...SUBJECT, run: run ?? 'one' }, by });
    await store.commit(batch);
  };
  return { ...started, meter, open, one, other, keep, raise };
};

t.test('an amount raises the limit of the counter, and is stored with its decision', async (t) => {
  const { meter, one, other, raise, create } = await full(t);
  const wait = exceeded(one.reserve(spending, NEVER));
  t.match(wait, { budget: 'b', unit: 'tokens', spent: 1000, limit: 1000, resets_at: Number });
  t.equal(meter.isOver(wait, SUBJECT), false);
  let times = 0;
  meter.onLoosened(() => {
    times += 1;
  });
  await raise(wait, 400);
  t.equal(times, 1);
  t.equal(meter.isOver(wait, SUBJECT), true);
  granted(other.reserve(spending, NEVER)).settle({ tokens: 300, usd: undefined });
  exceeded(one.reserve(spending, NEVER));
  const later = create();
  later.apply([entry(PAUSES)]);
  t.match(later.usage('b', 1), { items: [{ spent: { tokens: 1000 }, extra: { tokens: 400 } }] });
});

t.test('an amount for one run leaves the room of others as it is, also after a crash', async (t) => {
  const { store, meter, one, other, keep, raise, create } = await full(t);
  const wait = exceeded(one.reserve(spending, NEVER));
  await raise(wait, 900, 'one');
  t.equal(meter.isOver(wait, { ...SUBJECT, run: 'one' }), true);
  t.equal(meter.isOver(wait, { ...SUBJECT, run: 'other' }), false);
  exceeded(other.reserve(spending, NEVER));
  granted(one.reserve(spending, NEVER)).settle({ tokens: 300, usd: undefined });
  t.match(exceeded(other.reserve(spending, NEVER)), { spent: 1300, limit: 1300 });
  t.match(store.budgetCounters.all(undefined, 1), [{ tokens: 1000, of_runs: [{ run: 'one', tokens: 900 }] }]);
  await keep(one);
  t.match(store.budgetCounters.all(undefined, 1), [
    { tokens: 1300, extra: { tokens: 300 }, of_runs: [{ run: 'one', tokens: 600 }] },
  ]);
  granted(one.reserve(spending, NEVER)).settle({ tokens: 250, usd: undefined });
  // The process dies before the next commit of the run.
  const later = create();
  later.apply([entry(PAUSES)]);
  const resumed = later.open({ payer: { ...SUBJECT, run: 'one' }, isStored: true, notify() {} });
  granted(resumed.reserve(spending, NEVER)).settle({ tokens: 600, usd: undefined });
  exceeded(resumed.reserve(spending, NEVER));
  t.match(later.usage('b', 1), { items: [{ spent: { tokens: 1900 }, extra: { tokens: 900 } }] });
});

t.test('an amount has no effect after the window that it was meant for', async (t) => {
  const { meter, one, raise, pass } = await full(t);
  const wait = exceeded(one.reserve(spending, NEVER));
  pass(DAY);
  t.equal(meter.isOver(wait, SUBJECT), true);
  await raise(wait, 400);
  t.match(meter.usage('b', 1), { items: [] });
  granted(one.reserve(spending, NEVER));
});

t.test('a run that is not stored cannot wait', async (t) => {
  const { meter, open } = await full(t);
  t.strictSame(open('three', false).reserve(spending, NEVER), { kind: 'exceeded', budget: 'b' });
  t.match(meter.exhausted(SUBJECT, false), { budget: 'b' });
  t.equal(meter.exhausted(SUBJECT, true), undefined);
});

t.test('of two exceeded budgets, the one that stops applies', async (t) => {
  const { meter, one } = await full(t);
  meter.apply([entry(PAUSES), entry({ id: 'stops', limits: { tokens: 100 } })]);
  t.strictSame(one.reserve(spending, NEVER), { kind: 'exceeded', budget: 'stops' });
});
