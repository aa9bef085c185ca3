import t from 'tap';
import { createBreakers } from '../../src/models/breakers.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest } from '../../src/models/model.ts';
import { createPool } from '../../src/models/pool.ts';
import { DEFAULT_RETRY, type Pause, type RetrySettings } from '../../src/models/retry.ts';
import { PoolSpec } from '../../src/schema/model.ts';
import { type Act, breaksOff, fails, fakeModel, recordingPause, says } from './fakes.ts';
import { type Heard, infer, inferenceFailure, requestOf } from './infer.ts';
import { createVirtualTime } from './virtual-time.ts';

type Rules = { members?: object[]; routing?: object; switch?: object };

/** A pool of models `a`, `b`, … with their acts; called in list order unless the rules differ. */
const setUp = (
  acts: readonly (readonly Act[])[],
  rules: Rules = {},
  settings: Partial<RetrySettings> = {},
  time: { clock: { time: number; now(): number }; pause: Pause } | undefined = undefined,
) => {
  const stopped = { time: 0, now: () => stopped.time };
  const recording = recordingPause();
  const { clock, pause } = time ?? { clock: stopped, pause: recording.pause };
  const { waited } = recording;
  const models = acts.map((each, index) => fakeModel('abcdef'.charAt(index), ...each));
  const spec = PoolSpec.parse({
    id: 'pool',
    members: models.map(({ id }) => ({ model_id: id })),
    routing: { home: 'first_healthy' },
    ...rules,
  });
  const breakers = createBreakers(clock, { burstMs: 0 });
  const pool = createPool({
    spec,
    models: new Map(models.map((each) => [each.id, each])),
    breakers,
    pause,
    random: () => 0,
    maxRetryAfterMs: 60_000,
  });
  const model = pool.model({ ...DEFAULT_RETRY, ...settings });
  const asked = () => models.map((each) => each.asked.length);
  const ask = (thread_id = 't', run_id = 'r', more: Partial<InferenceRequest> = {}) =>
    infer(model, requestOf('x', { session: { thread_id, run_id }, ...more }));
  const fail = (thread_id = 't', run_id = 'r', more: Partial<InferenceRequest> = {}) =>
    inferenceFailure(model, requestOf('x', { session: { thread_id, run_id }, ...more }));
  return { clock, waited, models, breakers, model, asked, ask, fail };
};

const answered = ({ end }: { end: InferenceEnd }): string => end.by?.id ?? '';

t.test('names the member that produced the completion', async (t) => {
  const { ask } = setUp([[says('hi')]]);
  t.match(await ask(), {
    heard: [['text', 'hi']],
    end: { stop: 'EndTurn', by: { id: 'a', provider: 'a-provider', upstream: 'a-upstream' } },
  });
  const { end } = await ask('t', 'r', { overrides: { upstream_model: 'other' } });
  t.equal(end.by?.upstream, 'other');
});

const switching: [kind: ModelErrorClass, asked: number[]][] = [
  ['rate_limited', [1, 1]],
  ['overloaded', [1, 1]],
  ['unauthorized', [1, 1]],
  ['model_not_found', [1, 1]],
  ['provider', [3, 1]],
  ['timeout', [3, 1]],
];
for (const [kind, expected] of switching) {
  t.test(`${kind} leads to the next member after ${expected[0]} request(s)`, async (t) => {
    const { ask, asked } = setUp([[fails(kind)], [says('hi')]]);
    t.equal(answered(await ask()), 'b');
    t.same(asked(), expected);
  });
}

const staying: ModelErrorClass[] = ['invalid_request', 'context_overflow', 'content_filtered', 'cancelled'];
for (const kind of staying) {
  t.test(`does not switch after ${kind}, which every member would return`, async (t) => {
    const { fail, asked } = setUp([[fails(kind)], [says('hi')]]);
    t.match(await fail(), { error: { class: kind, by: { id: 'a', upstream: 'a-upstream' } } });
    t.same(asked(), [1, 0]);
  });
}

const rules: [name: string, rule: object, act: Act, asked: number[]][] = [
  ['without on_quota', { on_quota: false }, fails('rate_limited'), [3, 0]],
  ['without on_permanent', { on_permanent: false }, fails('unauthorized'), [1, 0]],
  ['without on_circuit_open', { on_circuit_open: false }, fails('provider'), [3, 0]],
  [
    'with a Retry-After below the threshold',
    { quota_retry_after_threshold_secs: 30 },
    fails('rate_limited', { retryAfterSeconds: 29 }),
    [3, 0],
  ],
];
for (const [name, rule, act, expected] of rules) {
  t.test(`keeps the member ${name}`, async (t) => {
    const { fail, asked } = setUp([[act], [says('hi')]], { switch: rule });
    await fail();
    t.same(asked(), expected);
  });
}

t.test('switches members for a Retry-After at the threshold or none at all', async (t) => {
  for (const act of [fails('rate_limited', { retryAfterSeconds: 30 }), fails('overloaded')]) {
    const { ask, asked } = setUp([[act], [says('hi')]], { switch: { quota_retry_after_threshold_secs: 30 } });
    await ask();
    t.same(asked(), [1, 1]);
  }
});

t.test('calls no other member after any output', async (t) => {
  const { fail, asked } = setUp([[breaksOff((sink) => sink.text('Hel'), 'overloaded')], [says('hi')]]);
  const { heard, error } = await fail();
  t.same(heard, [['text', 'Hel']] satisfies Heard[]);
  t.match(error, { class: 'overloaded', by: { id: 'a' } });
  t.same(asked(), [1, 0]);
});

t.test(
  'reports all models unavailable, with the last failure as the cause, when no member is left',
  async (t) => {
    const { fail, asked } = setUp([[fails('overloaded')], [fails('rate_limited')]]);
    const { error } = await fail();
    t.equal(error.message, 'all models unavailable');
    t.match(error.cause, { class: 'rate_limited' });
    t.ok(error.transient);
    t.same(asked(), [1, 1]);
  },
);

t.test('limits the switches of a session until a success', async (t) => {
  const down = fails('overloaded');
  const { fail, ask, asked } = setUp([[down, says('a')], [down, says('b'), down], [says('c')]], {
    switch: { max_switches_per_session: 1 },
  });
  t.match(await fail(), { error: { message: 'pool attempts exhausted', transient: false } });
  t.same(asked(), [1, 1, 0]);
  t.equal(answered(await ask()), 'b', 'the session keeps its member');
  t.equal(answered(await ask()), 'a', 'a success allows another switch');
  t.same(asked(), [2, 3, 0]);
});

t.test('moves a session of a quarantined member to a new home without counting a switch', async (t) => {
  const { ask } = setUp([[says('a'), fails('unauthorized')], [says('b')]], {
    routing: { home: 'round_robin' },
    switch: { max_switches_per_session: 0 },
  });
  t.equal(answered(await ask('one')), 'a');
  t.equal(answered(await ask('two')), 'b');
  await t.rejects(ask('one'), { message: 'pool attempts exhausted' });
  t.equal(answered(await ask('one')), 'b');
});

t.test('keeps a session with the member that it switched to', async (t) => {
  const { ask } = setUp([[fails('overloaded'), says('a')], [says('b')]]);
  t.equal(answered(await ask('one')), 'b');
  t.equal(answered(await ask('two')), 'a');
  t.equal(answered(await ask('one')), 'b');
});

t.test('keeps a session with its new member even when its home has recovered', async (t) => {
  const home = answered(await setUp([[says('a')], [says('b')]], { routing: {} }).ask('one'));
  const acts = ['a', 'b'].map((id) => (id === home ? [fails('overloaded'), says(id)] : [says(id)]));
  const { ask } = setUp(acts, { routing: {} });
  const other = home === 'a' ? 'b' : 'a';
  t.equal(answered(await ask('one')), other);
  t.equal(answered(await ask('one')), other);
});

t.test('scopes sessions to threads or runs', async (t) => {
  for (const sticky_scope of ['thread', 'run'] as const) {
    const { ask } = setUp([[says('a')], [says('b')]], { routing: { home: 'round_robin', sticky_scope } });
    const sameThread = [answered(await ask('t', 'r1')), answered(await ask('t', 'r2'))];
    t.equal(new Set(sameThread).size, sticky_scope === 'thread' ? 1 : 2);
    const sameRun = [answered(await ask('t1', 'r')), answered(await ask('t2', 'r'))];
    t.equal(new Set(sameRun).size, sticky_scope === 'thread' ? 2 : 1);
  }
});

t.test('deterministic: sends a thread always to the same member and spreads threads over all', async (t) => {
  const { ask, asked } = setUp([[says('a')], [says('b')]], { routing: {} });
  for (const thread of Array.from({ length: 40 }, (_, index) => `thread-${index}`)) {
    t.equal(answered(await ask(thread)), answered(await ask(thread)));
  }
  t.ok(
    asked().every((count) => count > 20),
    String(asked()),
  );
});

t.test('failover_only members are never a home, but take over', async (t) => {
  const { ask, asked } = setUp([[says('a')], [says('b'), fails('overloaded')]], {
    routing: {},
    members: [{ model_id: 'a', weight: 1_000_000, role: 'failover_only' }, { model_id: 'b' }],
  });
  t.equal(answered(await ask('one')), 'b');
  t.equal(answered(await ask('two')), 'a');
  t.same(asked(), [1, 2]);
});

t.test('sends no session to a member whose breaker is open', async (t) => {
  const { ask, asked, clock } = setUp([[fails('provider')], [says('b')]], {}, { max_retries: 0 });
  for (const run of ['1', '2', '3', '4', '5', '6']) t.equal(answered(await ask(`t${run}`, run)), 'b');
  t.same(asked(), [5, 6]);
  clock.time += 30_000;
  t.equal(answered(await ask('later', '7')), 'b');
  t.same(asked(), [6, 7], 'the probe is one request without retries');
});

t.test('repeated failures of one session do not block a member for others', async (t) => {
  const { ask, asked } = setUp([[fails('provider')], [says('b')]], {}, { max_retries: 9 });
  t.equal(answered(await ask('one', 'r1')), 'b');
  t.equal(answered(await ask('two', 'r2')), 'b');
  t.same(asked(), [20, 2]);
});

t.test('stops retries when the breaker opens', async (t) => {
  const { ask, breakers, asked, waited } = setUp([[fails('provider')], [says('b')]], {}, { max_retries: 9 });
  for (const run of ['1', '2', '3', '4']) breakers.of('a').admit()?.failed(run, 'why');
  t.equal(answered(await ask('t', '5')), 'b');
  t.same(asked(), [1, 1]);
  t.equal(waited.length, 0);
});

t.test('fails with the time until the first circuit closes while all circuits are open', async (t) => {
  const { fail, breakers, asked, waited, clock } = setUp([[says('a')], [says('b')]]);
  for (const member of ['a', 'b']) {
    for (const run of ['1', '2', '3', '4', '5']) breakers.of(member).admit()?.failed(run, 'why');
    clock.time += 4000;
  }
  const error = {
    message: 'all models unavailable',
    transient: true,
    heldBack: true,
    retryAfterSeconds: 22,
  };
  t.match(await fail(), { error });
  t.same(asked(), [0, 0]);
  t.same(waited, []);
});

t.test('stays retryable while a circuit is open, even if another member rejects the key', async (t) => {
  const { fail, breakers } = setUp([[fails('unauthorized')], [says('b')]]);
  for (const run of ['1', '2', '3', '4', '5']) breakers.of('b').admit()?.failed(run, 'why');
  t.match(await fail(), { error: { transient: true, heldBack: true, retryAfterSeconds: 30 } });
});

t.test('switches from a member at its limit, and waits for it if no other is available', async (t) => {
  const time = createVirtualTime();
  const admits = (most: number) => {
    let open = 0;
    const act: Act = async () => {
      if (open >= most) throw new ModelError('rate_limited', 'no', { retryAfterSeconds: 1 });
      open += 1;
      await time.sleep(5000);
      open -= 1;
      return { stop: 'EndTurn' };
    };
    return [act];
  };
  const { ask, asked } = setUp([admits(2), admits(1)], {}, { max_retries: 0 }, time);
  const burst = (name: string, runs: number) =>
    Array.from({ length: runs }, (_, n) => ask(`${name}${n}`, `${name}${n}`).then(answered));
  const first = burst('a', 3);
  await time.during(time.sleep(100));
  t.same(asked(), [3, 1]);
  const second = burst('b', 3);
  await time.during(time.sleep(100));
  t.same(asked(), [3, 4], 'the calls wait for the limited member, because the other one rejects them');
  t.same((await time.during(Promise.all(first))).sort(), ['a', 'a', 'b']);
  t.equal((await time.during(Promise.all(second))).length, 3);
});

t.test(
  'leaves a member that requests too long a wait, regardless of the threshold of the pool',
  async (t) => {
    const act = fails('rate_limited', { detail: 'no', retryAfterSeconds: 86_400 });
    const rules = { switch: { quota_retry_after_threshold_secs: 100_000 } };
    const { ask, asked, waited } = setUp([[act], [says('b')]], rules);
    t.equal(answered(await ask()), 'b');
    t.same(asked(), [1, 1]);
    t.same(waited, []);
    const stays = setUp([[act], [says('b')]], { switch: { on_quota: false } });
    t.match(await stays.fail(), { error: { message: /^rate limited: no \(it asks/, transient: false } });
    t.same(stays.asked(), [1, 0]);
  },
);

t.test('keeps a member out after a permanent failure until the pool is rebuilt', async (t) => {
  const { ask, asked, clock } = setUp([[fails('unauthorized'), says('a')], [says('b')]], { routing: {} });
  for (let thread = 0; thread < 20; thread += 1) t.equal(answered(await ask(`t${thread}`)), 'b');
  clock.time += 3_600_000;
  t.equal(answered(await ask('later')), 'b');
  t.equal(asked()[0], 1);
});

t.test('does not quarantine members for an unknown upstream override of a run', async (t) => {
  const { ask, fail, asked } = setUp([[fails('model_not_found'), says('a')], [says('b')]]);
  const { error } = await fail('t', 'r', { overrides: { upstream_model: 'nope' } });
  t.equal(error.class satisfies ModelError['class'], 'model_not_found');
  t.equal(answered(await ask()), 'a');
  t.same(asked(), [2, 0]);
});

t.test('fails without a request when every member is quarantined', async (t) => {
  const { ask, fail, asked } = setUp([[fails('unauthorized')]]);
  await fail();
  t.match(await fail('other'), { error: { message: 'all models unavailable' } });
  await t.rejects(ask('third'), { message: 'all models unavailable' });
  t.same(asked(), [1]);
});

t.test('rejects a pool with a missing model', async (t) => {
  const make = () =>
    createPool({
      spec: PoolSpec.parse({ id: 'p', members: [{ model_id: 'gone' }] }),
      models: new Map(),
      breakers: createBreakers({ now: () => 0 }),
      pause: recordingPause().pause,
      random: () => 0,
      maxRetryAfterMs: 60_000,
    });
  t.throws(make, { message: "model pool 'p' references missing model 'gone'" });
});
