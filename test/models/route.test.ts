import t from 'tap';
import { createBreakers } from '../../src/models/breakers.ts';
import type { InferenceSink } from '../../src/models/model.ts';
import { DEFAULT_RETRY, type Pause } from '../../src/models/retry.ts';
import { createRoutes, type Route } from '../../src/models/route.ts';
import { PoolSpec } from '../../src/schema/model.ts';
import { breaksOff, fails, fakeModel, recordingPause, says } from './fakes.ts';
import { type Heard, infer, inferenceFailure, recordingSink, requestOf } from './infer.ts';

const setUp = () => {
  const clock = { time: 0, passes: false, now: () => clock.time };
  const recording = recordingPause();
  const pause: Pause = async (ms, signal) => {
    if (clock.passes) clock.time += ms;
    await recording.pause(ms, signal);
  };
  const { waited } = recording;
  return {
    clock,
    waited,
    routes: createRoutes({ breakers: createBreakers(clock, { burstMs: 0 }), pause, random: () => 0 }),
  };
};

const recoverable = (heard: Heard[]): InferenceSink => ({
  ...recordingSink(heard),
  reset: () => heard.push(['text', '<reset>']),
  toolCancel: () => {},
});

const byRun = (run_id: string) => requestOf('x', { session: { thread_id: 't', run_id } });

/** Fails once for each run, without retries. */
const failAs = async (route: Route, runs: readonly string[]): Promise<void> => {
  for (const run of runs) await inferenceFailure(route({ ...DEFAULT_RETRY, max_retries: 0 }), byRun(run));
};

t.test('retries a model with the settings of its agent, and reports why its circuit is open', async (t) => {
  const { routes, clock, waited } = setUp();
  const broken = fakeModel('m', fails('provider', { detail: 'Oops' }));
  const route = routes.model(broken);
  await inferenceFailure(route({ ...DEFAULT_RETRY, max_retries: 3 }), byRun('1'));
  t.equal(broken.asked.length, 4);
  await failAs(route, ['2', '3', '4']);
  const { error } = await inferenceFailure(route({ ...DEFAULT_RETRY, max_retries: 9 }), byRun('5'));
  t.equal(error.message, 'provider error: Oops');
  t.equal(broken.asked.length, 8, 'the breaker opened');
  t.equal(waited.length, 3, 'calls do not wait for a model whose breaker is open');
  clock.time += 6001;
  const { error: refused } = await inferenceFailure(route(DEFAULT_RETRY), byRun('6'));
  const why = "model 'm' is not called for 24 s: its last calls failed, with provider error: Oops";
  const when = { heldBack: true, retryAfterSeconds: 23.999 };
  t.match(refused, { class: 'unavailable', message: why, transient: true, ...when });
  t.equal(broken.asked.length, 8);
  clock.time += 24_000;
  await inferenceFailure(route(DEFAULT_RETRY), byRun('7'));
  t.equal(broken.asked.length, 9);
});

t.test('waits for a model whose circuit is about to admit a probe', async (t) => {
  const { routes, clock, waited } = setUp();
  const model = fakeModel('m', ...Array(5).fill(fails('provider')), says('hi'));
  const route = routes.model(model);
  await failAs(route, ['1', '2', '3', '4', '5']);
  clock.time += 25_000;
  clock.passes = true;
  t.match(await infer(route(DEFAULT_RETRY), byRun('6')), { heard: [['text', 'hi']] });
  t.same(waited, [5000]);
});

t.test('continues an interrupted completion in a pool, with another member if necessary', async (t) => {
  const { routes } = setUp();
  const a = fakeModel(
    'a',
    breaksOff((sink) => sink.text('Hel')),
    fails('overloaded'),
  );
  const b = fakeModel('b', says('lo'));
  const spec = PoolSpec.parse({
    id: 'p',
    members: [{ model_id: 'a' }, { model_id: 'b' }],
    routing: { home: 'first_healthy' },
  });
  const model = routes.pool(
    spec,
    new Map([
      ['a', a],
      ['b', b],
    ]),
  )(DEFAULT_RETRY);
  const heard: Heard[] = [];
  const end = await model.stream(requestOf('x'), recoverable(heard), new AbortController().signal);
  t.same(heard, [
    ['text', 'Hel'],
    ['text', 'lo'],
  ]);
  t.match(end, { by: { id: 'b' } });
  t.match(b.asked[0]?.messages[1], { role: 'assistant', content: [{ text: 'Hel' }] });
});

t.test('a pool and a model share the breaker of that model', async (t) => {
  const { routes } = setUp();
  const a = fakeModel('a', fails('provider'));
  const b = fakeModel('b', says('hi'));
  await failAs(routes.model(a), ['1', '2', '3', '4', '5']);
  const spec = PoolSpec.parse({
    id: 'p',
    members: [{ model_id: 'a' }, { model_id: 'b', role: 'failover_only' }],
  });
  const pool = routes.pool(
    spec,
    new Map([
      ['a', a],
      ['b', b],
    ]),
  );
  t.match((await infer(pool(DEFAULT_RETRY), requestOf('x'))).end, { by: { id: 'b' } });
  t.equal(a.asked.length, 5);
});

for (const kind of ['a model', 'a pool'] as const) {
  t.test(`drops output after an abort of ${kind} that ignores its signal`, async (t) => {
    const { routes } = setUp();
    const controller = new AbortController();
    const talks = fakeModel('m', (sink) => {
      sink.text('before');
      controller.abort();
      sink.text('behind');
      sink.reasoning('behind');
      sink.reasoningEncrypted('behind');
      sink.toolStart('c', 'tool');
      sink.toolDelta('c', '{}');
      sink.toolEnd('c', '{}');
      return { stop: 'EndTurn' };
    });
    const pool = PoolSpec.parse({ id: 'p', members: [{ model_id: 'm' }] });
    const route = kind === 'a model' ? routes.model(talks) : routes.pool(pool, new Map([['m', talks]]));
    const heard: Heard[] = [];
    await route(DEFAULT_RETRY).stream(requestOf('x'), recoverable(heard), controller.signal);
    t.strictSame(heard, [['text', 'before']]);
  });
}
