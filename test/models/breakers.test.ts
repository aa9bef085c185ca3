import t from 'tap';
import { createBreakers, guarded } from '../../src/models/breakers.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import { type Act, fails, fakeModel, says } from './fakes.ts';
import { infer, inferenceFailure, requestOf } from './infer.ts';

const setUp = (...acts: Act[]) => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const breakers = createBreakers(clock);
  const model = fakeModel('m', ...acts);
  const breaker = breakers.of('m');
  const safe = guarded(model, breaker, () => new ModelError('unavailable', ''));
  const ask = () => infer(safe, requestOf('x'));
  const fail = () => inferenceFailure(safe, requestOf('x'));
  return { clock, breakers, breaker, model, safe, ask, fail };
};

const times = async (count: number, act: () => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < count; done += 1) await act();
};

t.test('five failures in a row keep everybody away for 30 seconds', async (t) => {
  const { clock, breaker, model, fail } = setUp(fails('provider'));
  await times(4, fail);
  t.ok(breaker.admits());
  await fail();
  t.notOk(breaker.admits());
  clock.time += 29_999;
  t.match(await fail(), { error: { class: 'unavailable', message: 'all models unavailable' } });
  t.equal(model.asked.length, 5);
  clock.time += 1;
  t.match(await fail(), { error: { class: 'provider' } });
  t.notOk(breaker.admits(), 'the probe failed and the cooldown began again');
});

t.test('a success in between starts the count again', async (t) => {
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

t.test('a probe that succeeds lets everybody in again', async (t) => {
  const { clock, breaker, ask, fail } = setUp(...Array<Act>(5).fill(fails('timeout')), says('hi'));
  await times(5, fail);
  clock.time += 30_000;
  t.ok(breaker.admits());
  await ask();
  t.ok(breaker.admits());
  await ask();
});

t.test('while one call probes nobody else is let in', async (t) => {
  const waiting: (() => void)[] = [];
  const slow: Act = async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { stop: 'EndTurn' };
  };
  const { clock, breaker, ask, fail } = setUp(...Array<Act>(5).fill(fails('overloaded')), slow);
  await times(5, fail);
  clock.time += 30_000;
  const probe = ask();
  t.notOk(breaker.admits());
  t.match(await fail(), { error: { class: 'unavailable' } });
  for (const go of waiting) go();
  await probe;
  t.ok(breaker.admits());
});

t.test('a call that began before the breaker opened does not answer for the probe', async (t) => {
  const { clock, breaker } = setUp(says('unused'));
  const early = breaker.admit();
  for (let n = 0; n < 5; n += 1) breaker.admit()?.failed();
  early?.succeeded();
  t.notOk(breaker.admits(), 'a late success does not close it');
  clock.time += 30_000;
  const probe = breaker.admit();
  early?.failed();
  early?.succeeded();
  t.notOk(breaker.admits(), 'the probe is still out');
  probe?.succeeded();
  t.ok(breaker.admits());
});

t.test('a cancelled probe makes room for the next one', async (t) => {
  const { clock, breaker, fail } = setUp(...Array<Act>(5).fill(fails('provider')), fails('cancelled'));
  await times(5, fail);
  clock.time += 30_000;
  await fail();
  t.ok(breaker.admits());
});

const counted: [kind: ModelErrorClass, counts: boolean][] = [
  ['rate_limited', true],
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

t.test('a request that the provider refuses shows that the provider is back', async (t) => {
  const { clock, breaker, fail } = setUp(...Array<Act>(5).fill(fails('provider')), fails('invalid_request'));
  await times(5, fail);
  clock.time += 30_000;
  await fail();
  t.ok(breaker.admits());
});

t.test('there is one breaker a model', async (t) => {
  const { breakers } = setUp(says('x'));
  t.equal(breakers.of('a'), breakers.of('a'));
  t.not(breakers.of('a'), breakers.of('b'));
});

t.test('a failure of the sink says nothing about the model', async (t) => {
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
