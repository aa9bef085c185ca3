import { createMeter, type Meter } from '../src/budgets/meter.ts';
import { BudgetSpec, type BudgetSubject } from '../src/schema/budget.ts';
import type { Spending } from '../src/schema/spending.ts';
import { openStore, type Store } from '../src/store/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { median } from './rounds.ts';
import type { Measured } from './row.ts';

/** Costs of the counters of budgets, in this process: each counter alone would be lost in a request. */

const COUNTERS = 8;
const NEVER = new AbortController().signal;

const SUBJECT: BudgetSubject = {
  scope: 'acme',
  user: 'alice',
  key: '0193f0aa-2f6b-7000-8000-86f65e28a754',
  agent: 'support',
  model: 'fast',
  run: '0193f0aa-2f6b-7000-8000-000000000001',
};

const entries = (count: number, limits: object): BudgetSpec[] =>
  Array.from({ length: count }, (_, index) =>
    BudgetSpec.parse({
      id: `budget-${index}`,
      match: { scope: 'ac*' },
      per: ['user', 'key'],
      window: { every: 'minute' },
      limits,
    }),
  );

const meterOver = (store: Store): Meter =>
  createMeter({
    store,
    clock: { now: Date.now },
    timer: { now: Date.now, after: () => () => {} },
    observe() {},
    limited() {},
    raised() {},
    onCommitFailed(error) {
      throw error;
    },
  });

/** Returns the microseconds of CPU time of one call, the median of several rounds. */
const costOf = (calls: number, call: () => void): number => {
  for (let done = 0; done < calls; done += 1) call();
  const rounds = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage();
    for (let done = 0; done < calls; done += 1) call();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  });
  return median(rounds);
};

const SPENDING: Spending = {
  agent: SUBJECT.agent,
  model: SUBJECT.model,
  input: 100,
  output: 500,
  priceOf: ({ prompt_tokens = 0, completion_tokens = 0 }) => (prompt_tokens + 2 * completion_tokens) / 1e6,
};

const inferenceWith = (meter: Meter, store: Store) => {
  const account = meter.open({ payer: SUBJECT, isStored: true, notify() {} });
  return {
    infer() {
      const allowance = account.reserve(SPENDING, NEVER);
      if (allowance instanceof Promise || allowance?.kind !== 'granted') return;
      allowance.settle({ tokens: 120, usd: 0.0002 });
    },
    /** Returns the number of store operations of a step. */
    step() {
      const batch = store.batch('commons');
      account.write(batch);
      return batch.writes.length;
    },
  };
};

const row = (metric: string, unit: string, value: number, most: number): Measured => ({
  metric,
  unit,
  aim: { of: 'value', most },
  rounds: [{ value }],
});

const measure = async ({ short, folder, note }: Context): Promise<Measured[]> => {
  const store = await openStore({ dir: folder(), durability: 'process' });
  const meter = meterOver(store);
  const calls = short ? 100 : 10_000;
  meter.apply([]);
  note(`a request without budgets: ${costOf(calls, () => meter.request(SUBJECT)).toFixed(3)} µs of CPU`);
  meter.apply(entries(COUNTERS, { requests: 1_000_000_000 }));
  const request = costOf(calls, () => meter.request(SUBJECT)) / COUNTERS;
  meter.apply(entries(COUNTERS, { tokens: 1_000_000_000_000, usd: 1_000_000 }));
  const { infer, step } = inferenceWith(meter, store);
  const inference = costOf(calls, infer) / COUNTERS;
  const writes = step() / COUNTERS;
  await store.close();
  return [
    row('a request, per counter of a budget', 'µs of CPU', request, 1),
    row('an inference, per counter of a budget', 'µs of CPU', inference, 5),
    row('store operations of a step, per counter of a budget', 'writes', writes, 1),
  ];
};

export const budgets: Benchmark = {
  name: 'budgets',
  title: 'budgets: counters of requests and inferences',
  run: measure,
};
