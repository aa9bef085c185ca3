import t from 'tap';
import { createBreakers } from '../../src/models/breakers.ts';
import { ModelError } from '../../src/models/errors.ts';
import { createLimiter, type Slot } from '../../src/models/limiter.ts';
import { DEFAULT_RETRY } from '../../src/models/retry.ts';
import { createRoutes } from '../../src/models/route.ts';
import { type Act, fakeModel } from './fakes.ts';
import { infer, inferenceFailure, requestOf } from './infer.ts';
import { createVirtualTime } from './virtual-time.ts';

const NEVER = new AbortController().signal;

const setUp = () => {
  const time = createVirtualTime();
  const limiter = createLimiter(time.clock);
  const enter = (first = false, signal = NEVER) => limiter.enter(signal, time.pause, first);
  const burst = async (calls: number): Promise<Slot[]> => {
    const slots: Slot[] = [];
    for (let n = 0; n < calls; n += 1) {
      const slot = await enter();
      if (slot) slots.push(slot);
    }
    return slots;
  };
  return { ...time, limiter, enter, burst };
};

t.test('sets no limit until the provider rejects a call', async (t) => {
  const { limiter, burst } = setUp();
  t.equal((await burst(1000)).length, 1000);
  t.ok(limiter.hasRoom());
});

t.test('sets the limit to the number of calls of a burst that the provider accepted', async (t) => {
  const { limiter, burst } = setUp();
  const slots = await burst(100);
  for (const slot of slots.slice(10)) t.ok(slot.refused(2000));
  t.same(limiter.state(), { limit: 10, active: 10, waiting: 0 });
  t.notOk(limiter.hasRoom());
});

t.test('admits the next call after a lone call was rejected', async (t) => {
  const { limiter, burst } = setUp();
  const [slot] = await burst(1);
  t.equal(slot?.refused(0), false);
  t.ok(limiter.hasRoom());
});

t.test('admits waiting calls in order, rejected ones first', async (t) => {
  const { burst, enter } = setUp();
  const [one, other] = await burst(2);
  other?.refused(0);
  const admitted: string[] = [];
  for (const name of ['a', 'b']) void Promise.resolve(enter()).then(() => admitted.push(name));
  const again = Promise.resolve(enter(true)).then((slot) => {
    admitted.push('refused');
    slot?.end();
  });
  one?.end();
  await again;
  await new Promise((resolve) => setImmediate(resolve));
  t.same(admitted, ['refused', 'a']);
});

t.test('removes a cancelled call from the queue', async (t) => {
  const { limiter, burst, enter } = setUp();
  const [one, other] = await burst(2);
  other?.refused(0);
  const abort = new AbortController();
  const waiting = enter(false, abort.signal);
  t.equal(limiter.state().waiting, 1);
  abort.abort();
  t.equal(await waiting, undefined);
  t.equal(limiter.state().waiting, 0);
  one?.end();
  t.same(limiter.state(), { limit: 1, active: 0, waiting: 0 });
});

t.test('raises the limit faster and faster while calls wait, and resets it after a rejection', async (t) => {
  const { limiter, clock, burst, enter, during } = setUp();
  const slots = await burst(2);
  slots[1]?.refused(0);
  const waiting = Array.from({ length: 8 }, () => Promise.resolve(enter()));
  const at: number[] = [];
  for (const each of waiting) void each.then(() => at.push(clock.time));
  await during(Promise.all(waiting.slice(0, 3)));
  t.same(at, [1000, 2000, 2000]);
  const third = await waiting[2];
  third?.refused(0);
  t.equal(limiter.state().limit, 3);
  await during(Promise.all(waiting.slice(3, 5)));
  t.same(at.slice(3), [5000, 7000, 7000], 'a rejection after a rise doubles the interval');
});

t.test('drops a limit after a minute without a rejection', async (t) => {
  const { limiter, clock, burst } = setUp();
  const slots = await burst(3);
  slots[2]?.refused(0);
  t.notOk(limiter.hasRoom());
  clock.time += 59_999;
  t.notOk(limiter.hasRoom());
  clock.time += 1;
  t.ok(limiter.hasRoom());
});

t.test('admits few calls after an outage, and soon all', async (t) => {
  const { limiter, clock, enter, during } = setUp();
  limiter.startSlowly();
  const at: number[] = [];
  const calls = Array.from({ length: 50 }, () => Promise.resolve(enter()).then(() => at.push(clock.time)));
  await during(Promise.all(calls));
  const begun = (ms: number) => at.filter((each) => each <= ms).length;
  t.same([0, 1000, 2000, 3000, 4000].map(begun), [4, 8, 16, 32, 50]);
});

/** A provider on virtual time; the test decides the outcome of each call. */
const startProvider = (
  time: ReturnType<typeof createVirtualTime>,
  accepts: () => boolean,
  lastsMs: number,
) => {
  const counts = { open: 0, most: 0, accepted: 0, refused: 0 };
  const act: Act = async (sink) => {
    await time.sleep(20);
    if (!accepts()) {
      counts.refused += 1;
      throw new ModelError('rate_limited', 'slow down', { status: 429, retryAfterSeconds: 2 });
    }
    counts.accepted += 1;
    counts.open += 1;
    counts.most = Math.max(counts.most, counts.open);
    sink.text('hi');
    await time.sleep(lastsMs);
    counts.open -= 1;
    return { stop: 'EndTurn' };
  };
  const { clock, pause } = time;
  let seed = 1;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const breakers = createBreakers(clock);
  const route = createRoutes({ breakers, pause, random }).model(fakeModel('m', act));
  const model = route(DEFAULT_RETRY);
  const callAll = (runs: number) =>
    Promise.all(
      Array.from({ length: runs }, (_, n) =>
        infer(model, requestOf('x', { session: { thread_id: 't', run_id: `r${n}` } })),
      ),
    );
  return { counts, breakers, model, callAll };
};

t.test('completes a hundred runs at a provider that accepts ten concurrent calls', async (t) => {
  const time = createVirtualTime();
  const provider = startProvider(time, () => provider.counts.open < 10, 1000);
  await time.during(provider.callAll(100));
  t.equal(provider.counts.accepted, 100);
  t.equal(provider.counts.most, 10);
  t.ok(provider.counts.refused < 130, `${provider.counts.refused} refusals`);
  t.ok(time.clock.time < 30_000, `${time.clock.time} ms`);
  t.match(provider.breakers.of('m').state(), { state: 'closed', failed: 0 });
});

t.test(
  'completes two hundred runs with long completions at a provider that accepts thirty per second',
  async (t) => {
    const time = createVirtualTime();
    let recent: number[] = [];
    const accepts = () => {
      recent = recent.filter((at) => time.clock.time - at < 1000);
      if (recent.length >= 30) return false;
      recent.push(time.clock.time);
      return true;
    };
    const provider = startProvider(time, accepts, 20_000);
    await time.during(provider.callAll(200));
    t.equal(provider.counts.accepted, 200);
    t.ok(time.clock.time < 80_000, `${time.clock.time} ms`);
    t.ok(provider.counts.most > 60, 'the limit has grown beyond the first burst');
  },
);

t.test('attempts to raise the limit do not fail a run that waits for long completions', async (t) => {
  const time = createVirtualTime();
  const provider = startProvider(time, () => provider.counts.open < 2, 300_000);
  await time.during(provider.callAll(5));
  t.equal(provider.counts.accepted, 5);
});

t.test('fails each run after its retries when the quota is exhausted', async (t) => {
  const time = createVirtualTime();
  const { model, counts } = startProvider(time, () => false, 0);
  const failed = inferenceFailure(model, requestOf('x'));
  t.match(await time.during(failed), { error: { class: 'rate_limited', transient: true, heldBack: false } });
  t.equal(counts.refused, 1 + DEFAULT_RETRY.max_retries);
});

t.test(
  'fails a call whose requested wait exceeds the limit, even while other calls are in progress',
  async (t) => {
    const time = createVirtualTime();
    let asked = 0;
    const act: Act = async () => {
      asked += 1;
      if (asked > 1) throw new ModelError('rate_limited', 'no', { retryAfterSeconds: 3600 });
      await time.sleep(1000);
      return { stop: 'EndTurn' };
    };
    const { clock, pause } = time;
    const routes = createRoutes({ breakers: createBreakers(clock), pause, random: () => 0 });
    const model = routes.model(fakeModel('m', act))(DEFAULT_RETRY);
    const first = infer(model, requestOf('x'));
    const second = inferenceFailure(model, requestOf('y'));
    t.match(await time.during(second), { error: { transient: false, message: /asks to wait 3600 s/ } });
    await time.during(first);
  },
);
