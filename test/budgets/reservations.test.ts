import t from 'tap';
import type { Budget } from '../../src/budgets/budget.ts';
import { type Claim, type Counter, createCounter } from '../../src/budgets/counter.ts';
import {
  type Ask,
  type Exceeded,
  MOST_WAIT_MS,
  type Reserved,
  reserve,
  type Timer,
} from '../../src/budgets/reservations.ts';
import fc from '../random.ts';
import { createBudget } from './entries.ts';

/** Timers that fire when the test moves the time. */
const fakeTimer = (): Timer & { pass(ms: number): void } => {
  let now = 0;
  const due = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    after(ms, callback) {
      const entry = { at: now + ms, callback };
      due.add(entry);
      return () => due.delete(entry);
    },
    pass(ms) {
      now += ms;
      for (const entry of [...due].sort((one, other) => one.at - other.at)) {
        if (entry.at <= now && due.delete(entry)) entry.callback();
      }
    },
  };
};

const claimOf = (spec: object, to?: number): Claim => {
  const budget: Budget = createBudget(spec);
  const key = { budget: budget.spec.id, identity: budget.identity, combination: '[]', from: 0 };
  return { budget, counter: createCounter(key, { to, isOfRun: false }, { tokens: 0, nano: 0 }) };
};

const asking = (input: number, output: number, nanoOf: Ask['nanoOf'] = () => 0): Ask => ({
  input,
  output,
  nanoOf,
});

const begin = (timer: Timer, claims: readonly Claim[], ask: Ask, signal = new AbortController().signal) =>
  reserve(timer, { claims: () => claims, ask, signal });

const reserved = (result: Reserved | Exceeded | Promise<unknown>): Reserved => {
  if (result instanceof Promise || result.kind !== 'reserved') throw new Error('is not reserved');
  return result;
};

t.test('reserves the ask and settles the actual usage', async (t) => {
  const claim = claimOf({ limits: { tokens: 1000 } });
  const first = reserved(begin(fakeTimer(), [claim], asking(100, 400)));
  t.same(claim.counter.reserved, { tokens: 500, nano: 0 });
  first.settle({ tokens: 150, nano: 7 });
  first.settle({ tokens: 150, nano: 7 });
  t.same(claim.counter.reserved, { tokens: 0, nano: 0 });
  t.same(claim.counter.spent, { tokens: 150, nano: 7 });
});

t.test('lowers the output near the limit, and never below 256 tokens (check 74)', async (t) => {
  const claim = claimOf({ limits: { tokens: 1000 } });
  const first = reserved(begin(fakeTimer(), [claim], asking(100, 4096)));
  t.equal(first.output, 900);
  first.settle({ tokens: 645, nano: 0 });
  const exceeded = begin(fakeTimer(), [claim], asking(100, 4096));
  t.match(exceeded, { kind: 'exceeded', unit: 'tokens' }, '255 tokens are left behind the input');
  t.equal(reserved(begin(fakeTimer(), [claim], asking(99, 4096))).output, 256);
});

t.test('a request for fewer than 256 tokens needs only these', async (t) => {
  const claim = claimOf({ limits: { tokens: 150 } });
  t.equal(reserved(begin(fakeTimer(), [claim], asking(100, 50))).output, 50);
});

t.test('lowers the output to what the money pays for', async (t) => {
  const claim = claimOf({ limits: { usd: 0.001 } });
  const nanoOf = (output: number): number => 100_000 + output * 1000;
  t.equal(reserved(begin(fakeTimer(), [claim], asking(100, 4096, nanoOf))).output, 900);
});

t.test('waits for reservations of others, and continues when one is settled lower (check 73)', async (t) => {
  const claim = claimOf({ limits: { tokens: 1000 } });
  const timer = fakeTimer();
  const first = reserved(begin(timer, [claim], asking(100, 800)));
  const order: string[] = [];
  const waits = (name: string, ask: Ask) =>
    Promise.resolve(begin(timer, [claim], ask)).then((result) => {
      order.push(name);
      return result;
    });
  const second = waits('second', asking(100, 300));
  const third = waits('third', asking(10, 10));
  t.equal(claim.counter.waiting.size, 2, 'a smaller request does not overtake');
  first.settle({ tokens: 200, nano: 0 });
  t.match(await second, { kind: 'reserved', output: 300 });
  t.match(await third, { kind: 'reserved', output: 10 });
  t.same(order, ['second', 'third']);
  t.same(claim.counter.reserved, { tokens: 420, nano: 0 });
});

t.test('after 30 seconds a request takes what fits, or is exceeded', async (t) => {
  const claim = claimOf({ limits: { tokens: 1000 } });
  const timer = fakeTimer();
  reserved(begin(timer, [claim], asking(100, 300)));
  const lowered = begin(timer, [claim], asking(100, 800));
  const exceeded = begin(timer, [claim], asking(100, 800));
  timer.pass(MOST_WAIT_MS - 1);
  t.equal(claim.counter.waiting.size, 2);
  timer.pass(1);
  t.match(await lowered, { kind: 'reserved', output: 500 });
  t.match(await exceeded, { kind: 'exceeded' });
});

t.test('a request that would never fit is exceeded at once', async (t) => {
  const full = claimOf({ limits: { tokens: 100 } });
  const busy = claimOf({ limits: { tokens: 1000 } });
  const timer = fakeTimer();
  reserved(begin(timer, [busy], asking(100, 800)));
  t.match(begin(timer, [busy, full], asking(100, 800)), { kind: 'exceeded', claim: full });
});

t.test('a window that ends while a request waits lets it continue', async (t) => {
  const timer = fakeTimer();
  const before = claimOf({ limits: { tokens: 1000 } }, 5000);
  const after = claimOf({ limits: { tokens: 1000 } });
  reserved(begin(timer, [before], asking(100, 800)));
  const waits = reserve(timer, {
    claims: () => [timer.now() < 5000 ? before : after],
    ask: asking(100, 800),
    signal: new AbortController().signal,
  });
  timer.pass(5000);
  t.match(await waits, { kind: 'reserved', output: 800 });
  t.equal(before.counter.waiting.size, 0);
  t.equal(after.counter.reserved.tokens, 900);
});

t.test('a cancelled request leaves the queue and holds nothing', async (t) => {
  const claim = claimOf({ limits: { tokens: 1000 } });
  const timer = fakeTimer();
  const first = reserved(begin(timer, [claim], asking(100, 800)));
  const cancel = new AbortController();
  const waits = begin(timer, [claim], asking(100, 800), cancel.signal);
  cancel.abort();
  t.match(await waits, { kind: 'reserved', claims: [] });
  first.settle({ tokens: 0, nano: 0 });
  t.same(claim.counter.reserved, { tokens: 0, nano: 0 });
});

t.test('observing budgets count and never stop', async (t) => {
  const claim = claimOf({ limits: { tokens: 10 }, on_exceeded: 'observe' });
  const first = reserved(begin(fakeTimer(), [claim], asking(100, 800)));
  t.equal(first.output, 800);
  first.settle({ tokens: 900, nano: 0 });
  t.equal(claim.counter.spent.tokens, 900);
});

/** `used` is a share of what was reserved; `error` is what the estimate of the input was short of. */
const inference = fc.record({
  input: fc.integer({ min: 0, max: 300 }),
  output: fc.integer({ min: 1, max: 2000 }),
  used: fc.double({ min: 0, max: 1, noNaN: true }),
  error: fc.integer({ min: 0, max: 20 }),
  counters: fc.subarray([0, 1, 2], { minLength: 1 }),
});

t.test('no counter exceeds its limit by more than the errors of the estimates', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(inference, { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 3, maxLength: 3 }),
      fc.infiniteStream(fc.nat(99)),
      async (inferences, limits, choices) => {
        const timer = fakeTimer();
        const [tokens = 1, money = 1, both = 1] = limits;
        const claims = [
          claimOf({ limits: { tokens } }),
          claimOf({ limits: { usd: money / 1e6 } }),
          claimOf({ limits: { tokens: both, usd: both / 1e6 } }),
        ];
        const open: { given: Reserved; used: number; error: number; input: number }[] = [];
        let pending = 0;
        const errors = { tokens: 0, nano: 0 };
        const isWithin = ({ budget, counter }: Claim): boolean =>
          counter.spent.tokens + counter.reserved.tokens <= (budget.tokens ?? Infinity) + errors.tokens &&
          counter.spent.nano + counter.reserved.nano <= (budget.nano ?? Infinity) + errors.nano;
        const begun = (
          result: Reserved | Exceeded,
          { used, error, input }: (typeof inferences)[number],
        ): void => {
          pending -= 1;
          if (result.kind === 'reserved') open.push({ given: result, used, error, input });
        };
        const left = [...inferences];
        while (left.length > 0 || open.length > 0 || pending > 0) {
          const choice = choices.next().value ?? 0;
          const next = choice < 50 || open.length === 0 ? left.shift() : undefined;
          if (next) {
            pending += 1;
            const own: Claim[] = next.counters.flatMap((index) => claims[index] ?? []);
            const ask = asking(next.input, next.output, (output) => (next.input + output) * 900);
            const result = begin(timer, own, ask);
            if (result instanceof Promise) result.then((late) => begun(late, next));
            else begun(result, next);
          } else if (open.length > 0) {
            const [ended] = open.splice(choice % open.length, 1);
            if (!ended) continue;
            const used = ended.input + Math.floor(ended.given.output * ended.used) + ended.error;
            errors.tokens += ended.error;
            errors.nano += ended.error * 900;
            ended.given.settle({ tokens: used, nano: used * 900 });
          } else timer.pass(MOST_WAIT_MS);
          await Promise.resolve();
          if (!claims.every(isWithin)) return false;
        }
        return claims.every(
          ({ counter }: { counter: Counter }) =>
            counter.waiting.size === 0 &&
            counter.holders === 0 &&
            counter.reserved.tokens === 0 &&
            counter.reserved.nano === 0,
        );
      },
    ),
  );
});
