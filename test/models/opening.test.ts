import t from 'tap';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import { isRetried, type OpeningRules } from '../../src/models/opening.ts';
import { DEFAULT_RETRY, pause, type RetrySettings } from '../../src/models/retry.ts';
import { type Act, breaksOff, fails, fakeModel, recordingPause, says, withOpeningRetry } from './fakes.ts';
import { infer, inferenceFailure, requestOf } from './infer.ts';

const rules = {
  settings: DEFAULT_RETRY,
  pause,
  random: () => 0,
  maxRetryAfterMs: 60_000,
  retries: isRetried,
} satisfies OpeningRules;

const setUp = (acts: readonly Act[], settings: Partial<RetrySettings> = {}) => {
  const { pause, waited } = recordingPause();
  const model = fakeModel('m', ...acts);
  return {
    model,
    waited,
    retrying: withOpeningRetry(model, { ...rules, pause, settings: { ...DEFAULT_RETRY, ...settings } }),
  };
};

t.test('retries a failure before any output twice, then throws it', async (t) => {
  const { model, waited, retrying } = setUp([fails('provider', { detail: 'Oops' })]);
  const { heard, error } = await inferenceFailure(retrying, requestOf('x'));
  t.equal(error.message, 'provider error: Oops');
  t.equal(model.asked.length, 3);
  t.same(waited, [500, 1000]);
  t.same(heard, []);
});

t.test('returns the completion after a failure without reporting the retry', async (t) => {
  const { retrying } = setUp([fails('timeout'), says('hi')]);
  t.same(await infer(retrying, requestOf('x')), { heard: [['text', 'hi']], end: { stop: 'EndTurn' } });
});

const kinds: [kind: ModelErrorClass, asked: number][] = [
  ['rate_limited', 3],
  ['overloaded', 3],
  ['timeout', 3],
  ['provider', 3],
  ['stream_interrupted', 1],
  ['context_overflow', 1],
  ['invalid_request', 1],
  ['unauthorized', 1],
  ['model_not_found', 1],
  ['content_filtered', 1],
  ['unavailable', 1],
  ['cancelled', 1],
];
for (const [kind, asked] of kinds) {
  t.test(`${kind} causes ${asked} request(s)`, async (t) => {
    const { model, retrying } = setUp([fails(kind)]);
    await inferenceFailure(retrying, requestOf('x'));
    t.equal(model.asked.length, asked);
  });
}

const delays: [name: string, act: Act, settings: Partial<RetrySettings>, waited: number[]][] = [
  ['doubles up to eight seconds', fails('provider'), { max_retries: 6 }, [500, 1000, 2000, 4000, 8000, 8000]],
  ['begins longer when overloaded', fails('overloaded'), {}, [2000, 4000]],
  ['is at least Retry-After', fails('rate_limited', { retryAfterSeconds: 20 }), {}, [20_000, 20_000]],
  ['is not shortened by Retry-After', fails('rate_limited', { retryAfterSeconds: 0 }), {}, [500, 1000]],
  ['follows the settings', fails('overloaded'), { max_retries: 1, overloaded_backoff_base_ms: 7 }, [7]],
  ['is none without retries', fails('provider'), { max_retries: 0 }, []],
];
for (const [name, act, settings, expected] of delays) {
  t.test(`the delay ${name}`, async (t) => {
    const { waited, retrying } = setUp([act], settings);
    await inferenceFailure(retrying, requestOf('x'));
    t.same(waited, expected);
  });
}

t.test('does not retry when the provider requests a longer wait than permitted', async (t) => {
  const granted = setUp([fails('rate_limited', { retryAfterSeconds: 60 })]);
  await inferenceFailure(granted.retrying, requestOf('x'));
  t.same(granted.waited, [60_000, 60_000]);
  const { model, waited, retrying } = setUp([fails('rate_limited', { detail: 'no', retryAfterSeconds: 61 })]);
  const { error } = await inferenceFailure(retrying, requestOf('x'));
  t.match(error, { class: 'rate_limited', transient: false, retryAfterSeconds: 61 });
  t.equal(error.message, 'rate limited: no (it asks to wait 61 s, and no more than 60 s are waited)');
  t.equal(model.asked.length, 1);
  t.same(waited, []);
});

t.test('does not retry after any output', async (t) => {
  for (const begin of [
    (sink: Parameters<Act>[0]) => sink.text('Hel'),
    (sink: Parameters<Act>[0]) => sink.reasoning('Hm'),
    (sink: Parameters<Act>[0]) => sink.toolStart('a', 'search'),
  ]) {
    const { model, retrying } = setUp([breaksOff(begin, 'timeout')]);
    await inferenceFailure(retrying, requestOf('x'));
    t.equal(model.asked.length, 1);
  }
});

t.test('throws an error that is not a ModelError immediately', async (t) => {
  const { model, retrying } = setUp([
    () => {
      throw new TypeError('bug');
    },
  ]);
  await t.rejects(infer(retrying, requestOf('x')), new TypeError('bug'));
  t.equal(model.asked.length, 1);
});

t.test('a cancel ends the wait', async (t) => {
  const abort = new AbortController();
  const model = fakeModel('m', () => {
    setImmediate(() => abort.abort());
    throw new ModelError('rate_limited', 'why', { retryAfterSeconds: 60 });
  });
  const retrying = withOpeningRetry(model, rules);
  const { error } = await inferenceFailure(retrying, requestOf('x'), abort.signal);
  t.equal(error.class, 'cancelled');
  t.equal(model.asked.length, 1);
});
