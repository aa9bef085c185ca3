import t from 'tap';
import { createBreakers } from '../../src/models/breakers.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import type { Pause } from '../../src/models/retry.ts';
import { type Act, breaksOff, fails, fakeModel, says, withGuard } from './fakes.ts';
import { infer, inferenceFailure, requestOf } from './infer.ts';
import { createVirtualTime } from './virtual-time.ts';

const setUp = (...acts: Act[]) => {
  const clock = { time: 1_000_000, wall: 0, now: () => clock.wall, monotonic: () => clock.time };
  const waited: number[] = [];
  const pause: Pause = async (ms) => {
    waited.push(ms);
    clock.time += ms;
  };
  const breakers = createBreakers(clock, { burstMs: 0 });
  const model = fakeModel('m', ...acts);
  const breaker = breakers.of('m');
  const refusal = () => new ModelError('unavailable', '');
  const safe = withGuard(model, breaker, { pause, patienceMs: 100, refusal });
  let runs = 0;
  const next = (run_id?: string) => {
    runs += 1;
    return requestOf('x', { session: { thread_id: 't', run_id: run_id ?? `r${runs}` } });
  };
  const ask = (run?: string, signal?: AbortSignal) => infer(safe, next(run), signal);
  const fail = (run?: string, signal?: AbortSignal) => inferenceFailure(safe, next(run), signal);
  return { clock, waited, breakers, breaker, model, safe, ask, fail };
};

const times = async (count: number, act: () => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < count; done += 1) await act();
};

t.test('opens for 30 seconds after five runs fail in a row', async (t) => {
  const { clock, breaker, model, fail, waited } = setUp(fails('provider'));
  await times(4, fail);
  t.ok(breaker.admits());
  await fail();
  t.notOk(breaker.admits());
  clock.time += 29_899;
  t.match(await fail(), { error: { class: 'unavailable', message: 'all models unavailable' } });
  t.equal(model.asked.length, 5);
  t.same(waited, [], 'the rejection needs no wait');
  clock.time += 101;
  t.match(await fail(), { error: { class: 'provider' } });
  t.notOk(breaker.admits(), 'a failed probe restarts the cooldown');
});

t.test('does not open for repeated failures of a single run', async (t) => {
  const { breaker, model, fail } = setUp(fails('provider'));
  await times(20, () => fail('same'));
  t.ok(breaker.admits());
  t.equal(model.asked.length, 20);
  t.match(breaker.state(), { state: 'closed', failed: 1 });
  await times(3, fail);
  t.ok(breaker.admits());
  await fail('last');
  t.notOk(breaker.admits());
});

t.test('counts each call outside of a run as a separate caller', async (t) => {
  const { breaker, safe } = setUp(fails('provider'));
  await times(5, () => inferenceFailure(safe, requestOf('x')));
  t.notOk(breaker.admits());
});

t.test('keeps the cooldown when the system clock is set', async (t) => {
  const { clock, breaker, fail } = setUp(fails('provider'));
  await times(5, fail);
  clock.wall += 86_400_000;
  t.notOk(breaker.admits());
  clock.wall = -86_400_000;
  clock.time += 30_000;
  t.ok(breaker.admits());
});

t.test('makes a call wait that arrives shortly before the end of the cooldown', async (t) => {
  const { clock, ask, fail, waited } = setUp(...Array<Act>(5).fill(fails('timeout')), says('hi'));
  await times(5, fail);
  clock.time += 29_900;
  await ask();
  t.same(waited, [100]);
});

t.test('a cancel ends the wait for an open circuit', async (t) => {
  const abort = new AbortController();
  const { clock, breaker, model, fail } = setUp(fails('timeout'));
  await times(5, fail);
  const pause: Pause = (_, signal) => {
    setImmediate(() => abort.abort());
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  clock.time += 29_999;
  const refusal = () => new ModelError('unavailable', '');
  const safe = withGuard(model, breaker, { pause, patienceMs: 100, refusal });
  const { error } = await inferenceFailure(safe, requestOf('x'), abort.signal);
  t.equal(error.class, 'cancelled');
  t.equal(model.asked.length, 5);
});

t.test('reports the state of every breaker', async (t) => {
  const { clock, breakers, breaker, fail } = setUp(fails('overloaded', { detail: 'busy' }));
  breakers.of('a');
  await times(2, fail);
  t.same(breakers.states(), [
    { model: 'a', state: 'closed', failed: 0 },
    { model: 'm', state: 'closed', failed: 2, cause: 'provider overloaded: busy' },
  ]);
  await times(3, fail);
  clock.time += 10_000;
  const cause = 'provider overloaded: busy';
  t.same(breaker.state(), { model: 'm', state: 'open', failed: 0, opensIn: 20_000, cause });
  clock.time += 20_000;
  const probe = breaker.admit();
  t.same(breaker.state(), { model: 'm', state: 'half_open', failed: 0, cause });
  probe?.succeeded();
  t.match(breaker.state(), { state: 'closed' });
});

t.test('a success resets the failure count', async (t) => {
  const { breaker, ask, fail } = setUp(
    ...Array<Act>(4).fill(fails('provider')),
    says('hi'),
    fails('provider'),
  );
  await times(4, fail);
  await ask();
  await times(4, fail);
  t.ok(breaker.admits());
});

t.test('a successful probe closes the breaker', async (t) => {
  const { clock, breaker, ask, fail } = setUp(...Array<Act>(5).fill(fails('timeout')), says('hi'));
  await times(5, fail);
  clock.time += 30_000;
  t.ok(breaker.admits());
  await ask();
  t.ok(breaker.admits());
  await ask();
});

/** A model whose calls end when the test ends them. */
const slowly = () => {
  const waiting: (() => void)[] = [];
  const act: Act = async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { stop: 'EndTurn' };
  };
  return { act, go: () => waiting.splice(0).map((each) => each()) };
};

t.test('admits no other call during a probe', async (t) => {
  const slow = slowly();
  const { clock, breaker, ask, fail, waited } = setUp(...Array<Act>(5).fill(fails('overloaded')), slow.act);
  await times(5, fail);
  clock.time += 30_000;
  const probe = ask();
  t.notOk(breaker.admits());
  t.match(await fail(), { error: { class: 'unavailable' } });
  t.same(waited, [100], 'the calls waited for the probe');
  slow.go();
  await probe;
  t.ok(breaker.admits());
});

t.test('admits a call that waited during a successful probe', async (t) => {
  const slow = slowly();
  const { clock, breaker, model, fail, safe } = setUp(
    ...Array<Act>(5).fill(fails('overloaded')),
    slow.act,
    says('hi'),
  );
  await times(5, fail);
  clock.time += 30_000;
  const probe = infer(safe, requestOf('x'));
  const pause: Pause = (_, signal) => {
    setImmediate(slow.go);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  const refusal = () => new ModelError('unavailable', '');
  const patient = withGuard(model, breaker, { pause, patienceMs: 100, refusal });
  t.match(await infer(patient, requestOf('x')), { heard: [['text', 'hi']] });
  await probe;
});

t.test('ignores the result of a call that began before the breaker opened', async (t) => {
  const { clock, breaker } = setUp(says('unused'));
  const early = breaker.admit();
  for (let n = 0; n < 5; n += 1) breaker.admit()?.failed(`r${n}`, 'why');
  early?.succeeded();
  t.notOk(breaker.admits(), 'a late success does not close it');
  clock.time += 30_000;
  const probe = breaker.admit();
  early?.failed('early', 'why');
  early?.succeeded();
  t.notOk(breaker.admits(), 'the probe is still in progress');
  probe?.succeeded();
  t.ok(breaker.admits());
});

t.test('a cancelled probe allows another one', async (t) => {
  const { clock, breaker, fail } = setUp(...Array<Act>(5).fill(fails('provider')), fails('cancelled'));
  await times(5, fail);
  clock.time += 30_000;
  await fail();
  t.ok(breaker.admits());
});

const counted: [kind: ModelErrorClass, counts: boolean][] = [
  ['rate_limited', false],
  ['overloaded', true],
  ['timeout', true],
  ['provider', true],
  ['stream_interrupted', true],
  ['invalid_request', false],
  ['context_overflow', false],
  ['content_filtered', false],
  ['unauthorized', false],
  ['model_not_found', false],
  ['cancelled', false],
];
for (const [kind, counts] of counted) {
  t.test(`${kind} ${counts ? 'counts' : 'does not count'} as a failure of the model`, async (t) => {
    const { breaker, fail } = setUp(fails(kind));
    await times(5, fail);
    t.equal(breaker.admits(), !counts);
  });
}

for (const kind of ['invalid_request', 'context_overflow', 'content_filtered'] as const) {
  t.test(
    `${kind} proves that the provider works: it closes the breaker and resets the failure count`,
    async (t) => {
      const { clock, breaker, fail } = setUp(
        ...Array<Act>(5).fill(fails('provider')),
        fails(kind),
        ...Array<Act>(4).fill(fails('provider')),
        fails(kind),
        fails('provider'),
      );
      await times(5, fail);
      clock.time += 30_000;
      await fail();
      t.ok(breaker.admit() && breaker.admit(), 'two concurrent calls are admitted');
      await times(4, fail);
      await fail();
      await times(4, fail);
      t.ok(breaker.admits());
    },
  );
}

t.test('admits one call at a time after a probe without evidence about the model', async (t) => {
  const { clock, breaker, fail } = setUp(...Array<Act>(5).fill(fails('provider')), fails('unauthorized'));
  await times(5, fail);
  clock.time += 30_000;
  await fail();
  t.ok(breaker.admit());
  t.notOk(breaker.admit());
});

t.test('does not count an overload with Retry-After as a failure', async (t) => {
  const { breaker, fail } = setUp(fails('overloaded', { retryAfterSeconds: 2 }));
  await times(9, fail);
  t.match(breaker.state(), { state: 'closed', failed: 0 });
});

t.test('counts failures within a second once', async (t) => {
  const { clock, breaker } = setUp();
  const breakers = createBreakers(clock);
  const strict = breakers.of('m');
  for (let n = 0; n < 30; n += 1) strict.admit()?.failed(`r${n}`, 'cut');
  t.match(strict.state(), { state: 'closed', failed: 1 });
  for (let n = 1; n < 5; n += 1) {
    clock.time += 1000;
    t.equal(strict.state().state, 'closed');
    strict.admit()?.failed(`later${n}`, 'cut');
  }
  t.equal(strict.state().state, 'open');
  t.ok(breaker.admits(), 'breakers of another registry are separate');
});

t.test('does not count a stream that breaks after its first event', async (t) => {
  const { breaker, fail } = setUp(breaksOff((sink) => sink.text('long')));
  await times(9, fail);
  t.match(breaker.state(), { state: 'closed', failed: 0 });
});

t.test('a probe succeeds with its first event, and waiting calls are released gradually', async (t) => {
  const time = createVirtualTime();
  const breaker = createBreakers(time.clock, { burstMs: 0 }).of('m');
  const model = fakeModel('m', async (sink) => {
    await time.sleep(100);
    sink.text('hi');
    await time.sleep(10_000);
    return { stop: 'EndTurn' };
  });
  const safe = withGuard(model, breaker, { pause: time.pause, patienceMs: 5000 });
  for (let n = 0; n < 5; n += 1) breaker.admit()?.failed(`r${n}`, 'why');
  await time.during(time.sleep(30_000));
  const all = Promise.all(Array.from({ length: 20 }, () => infer(safe, requestOf('x'))));
  const asked: number[] = [];
  for (const ms of [50, 100, 1000, 1000, 1000]) {
    await time.during(time.sleep(ms));
    asked.push(model.asked.length);
  }
  t.same(asked, [1, 4, 8, 16, 20]);
  await time.during(all);
});

t.test('uses one breaker per model', async (t) => {
  const { breakers } = setUp(says('x'));
  t.equal(breakers.of('a'), breakers.of('a'));
  t.not(breakers.of('a'), breakers.of('b'));
});

t.test('drops breakers of removed models while in-flight calls keep theirs', async (t) => {
  const { breakers, breaker, fail, clock } = setUp(fails('provider'));
  breakers.of('a');
  await times(5, fail);
  breakers.keep(['m', 'never-asked']);
  t.match(breakers.states(), [{ model: 'm', state: 'open' }]);
  t.equal(breakers.of('m'), breaker);
  breakers.keep([]);
  t.strictSame(breakers.states(), []);
  t.ok(breakers.of('m').admits(), 'the new model has a new breaker');
  t.notOk(breaker.admits());
  clock.time += 30_000;
  t.ok(breaker.admit());
});

t.test('ignores failures of the sink', async (t) => {
  const { breaker, safe } = setUp(() => {
    throw new TypeError('full');
  });
  const ignore = (): void => {};
  const sink = {
    text: ignore,
    reasoning: ignore,
    reasoningEncrypted: ignore,
    toolStart: ignore,
    toolDelta: ignore,
    toolEnd: ignore,
  };
  await times(5, () =>
    t.rejects(safe.stream(requestOf('x'), sink, new AbortController().signal), new TypeError('full')),
  );
  t.ok(breaker.admits());
});
