import type { ServerResponse } from 'node:http';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from '../../src/models/model.ts';
import { withRecovery } from '../../src/models/recovery.ts';
import { DEFAULT_RETRY, pause, type RetrySettings } from '../../src/models/retry.ts';
import { textOf } from '../../src/schema/message.ts';
import { createProvider } from './create-provider.ts';
import { type Act, breaksOff, fails, fakeModel, recordingPause, says } from './fakes.ts';
import { recordingSink, requestOf } from './infer.ts';
import { chatChunk, sendEvents, startSseServer } from './sse-server.ts';

type Told = [kind: string, ...values: string[]];

/** A sink that supports resets and lost calls. */
const recoverableSink = (told: Told[]): InferenceSink => ({
  ...recordingSink([]),
  text: (delta) => told.push(['text', delta]),
  reasoning: (delta) => told.push(['reasoning', delta]),
  toolStart: (id, name) => told.push(['start', id, name]),
  toolEnd: (id, args) => told.push(['end', id, args]),
  toolCancel: (id, name, reason) => told.push(['cancel', id, name, reason]),
  reset: (reason) => told.push(['reset', reason]),
});

const run = async (
  model: Model,
  signal = new AbortController().signal,
): Promise<{ told: Told[]; end?: InferenceEnd; error?: unknown }> => {
  const told: Told[] = [];
  try {
    return { told, end: await model.stream(requestOf('ask'), recoverableSink(told), signal) };
  } catch (error) {
    return { told, error };
  }
};

const setUp = (acts: readonly Act[], settings: Partial<RetrySettings> = {}) => {
  const { pause, waited } = recordingPause();
  const model = fakeModel('m', ...acts);
  return { model, waited, recovering: withRecovery(model, { ...DEFAULT_RETRY, ...settings }, pause) };
};

const lastText = ({ messages }: InferenceRequest, back = 1): string =>
  textOf(messages.at(-back)?.content ?? []);

t.test('continues interrupted text without a report to the sink', async (t) => {
  const { model, recovering, waited } = setUp([breaksOff((sink) => sink.text('Hel')), says('lo')]);
  const { told, end } = await run(recovering);
  t.same(told, [
    ['text', 'Hel'],
    ['text', 'lo'],
  ]);
  t.same(end, { stop: 'EndTurn' });
  const [, second] = model.asked;
  t.equal(second?.messages.length, 3);
  t.match(second?.messages[1], { role: 'assistant', content: [{ type: 'text', text: 'Hel' }] });
  t.match(second?.messages[2], { role: 'user' });
  t.same(waited, [500]);
});

t.test('a second continuation starts after all of the previous text', async (t) => {
  const { model, recovering } = setUp([
    breaksOff((sink) => sink.text('One ')),
    breaksOff((sink) => sink.text('two ')),
    says('three'),
  ]);
  await run(recovering);
  const [, , third] = model.asked;
  t.equal(third && lastText(third, 2), 'One two ');
  t.equal(third?.messages.length, 3);
});

t.test('cancels an open call and continues the text', async (t) => {
  const { model, recovering } = setUp([
    breaksOff((sink) => {
      sink.text('Looking');
      sink.toolStart('a', 'search');
      sink.toolDelta('a', '{"q":');
    }),
    says('…'),
  ]);
  const { told } = await run(recovering);
  t.same(told, [
    ['text', 'Looking'],
    ['start', 'a', 'search'],
    ['cancel', 'a', 'search', 'goaway'],
    ['text', '…'],
  ]);
  t.match(model.asked[1] && lastText(model.asked[1]), /'search'/);
});

t.test('keeps complete calls without another request, and reports lost ones to the model', async (t) => {
  const { model, recovering } = setUp([
    breaksOff((sink) => {
      sink.toolStart('a', 'search');
      sink.toolEnd('a', '{"q":1}');
      sink.toolStart('b', 'fetch');
    }),
  ]);
  const { told, end } = await run(recovering);
  t.same(told.slice(1), [
    ['end', 'a', '{"q":1}'],
    ['start', 'b', 'fetch'],
    ['cancel', 'b', 'fetch', 'goaway'],
  ]);
  t.match(end, { stop: 'ToolUse', note: /'fetch'/ });
  t.equal(model.asked.length, 1);
});

t.test('restarts when nothing is worth keeping', async (t) => {
  const { model, recovering } = setUp([
    breaksOff((sink) => {
      sink.reasoning('Hm');
      sink.toolStart('a', 'search');
    }),
    breaksOff(() => {}),
    says('Hello'),
  ]);
  const { told } = await run(recovering);
  t.same(told, [
    ['reasoning', 'Hm'],
    ['start', 'a', 'search'],
    ['reset', 'goaway'],
    ['reset', 'goaway'],
    ['text', 'Hello'],
  ]);
  for (const { messages } of model.asked) t.equal(messages.length, 1);
});

t.test('after a restart, failures of the opening are handled by the opening', async (t) => {
  for (const begin of [
    (sink: InferenceSink) => sink.reasoning('Hm'),
    (sink: InferenceSink) => sink.toolStart('a', 'search'),
    (sink: InferenceSink) => sink.text(' '),
  ]) {
    const { model, recovering } = setUp([breaksOff(begin), fails('overloaded'), says('Hello')]);
    const { told, error } = await run(recovering);
    t.match(error, { class: 'overloaded' });
    t.equal(model.asked.length, 2);
    t.equal(told.filter(([kind]) => kind === 'reset').length, 1);
  }
});

t.test('limits the requests, then throws the last failure', async (t) => {
  for (const max_stream_retries of [0, 1, 2, 5]) {
    const { model, recovering } = setUp([breaksOff((sink) => sink.text('x'))], { max_stream_retries });
    const { error } = await run(recovering);
    t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (goaway)' });
    t.equal(model.asked.length, 1 + max_stream_retries);
  }
});

t.test('leaves a failure before any output to the opening, unless the stream broke', async (t) => {
  const { model, recovering } = setUp([fails('overloaded')]);
  t.match(await run(recovering), { error: { class: 'overloaded' } });
  t.equal(model.asked.length, 1);
});

const reasons: [name: string, error: ModelError, reason: string, waited: number][] = [
  ['a reset', new ModelError('stream_interrupted', 'connection reset'), 'connection reset', 500],
  [
    'a status',
    new ModelError('stream_interrupted', 'provider 529 mid-stream'),
    'provider 529 mid-stream',
    500,
  ],
  ['an idle stall', new ModelError('stream_interrupted', 'idle stall'), 'idle stall', 200],
  ['a timeout', new ModelError('timeout', 'stream idle timeout after 1s'), 'idle stall', 200],
  ['a failure', new ModelError('provider', 'Oops', { status: 502 }), 'provider 502 mid-stream', 500],
];
for (const [name, error, reason, delay] of reasons) {
  t.test(`reports ${name} in mid-stream as '${reason}'`, async (t) => {
    const { recovering, waited } = setUp([
      (sink) => {
        sink.reasoning('Hm');
        throw error;
      },
      says('Hello'),
    ]);
    t.same((await run(recovering)).told[1], ['reset', reason]);
    t.same(waited, [delay]);
  });
}

t.test('throws a permanent failure, regardless of the output', async (t) => {
  for (const kind of ['content_filtered', 'context_overflow', 'cancelled', 'invalid_request'] as const) {
    const { model, recovering } = setUp([breaksOff((sink) => sink.text('Hi'), kind)]);
    t.match(await run(recovering), { error: { class: kind } });
    t.equal(model.asked.length, 1);
  }
});

t.test('a cancel during a wait ends the inference', async (t) => {
  const abort = new AbortController();
  const model = fakeModel('m', (sink) => {
    sink.text('Hi');
    setImmediate(() => abort.abort());
    throw new ModelError('stream_interrupted', 'goaway');
  });
  const recovering = withRecovery(model, { ...DEFAULT_RETRY, backoff_base_ms: 8000 }, pause);
  t.match(await run(recovering, abort.signal), { error: { class: 'cancelled' } });
  t.equal(model.asked.length, 1);
});

t.test('skips recovery for a sink without reset', async (t) => {
  const { model, recovering } = setUp([breaksOff((sink) => sink.text('Hel'))]);
  const ended = recovering.stream(requestOf('x'), recordingSink([]), new AbortController().signal);
  await t.rejects(ended, { message: 'stream interrupted (goaway)' });
  t.equal(model.asked.length, 1);
});

t.test('asks a provider to continue after a broken connection', async (t) => {
  let asked = 0;
  let open: ServerResponse | undefined;
  const { url, requests } = await startSseServer(t, (response) => {
    asked += 1;
    open = response;
    sendEvents(response, [chatChunk({ content: asked === 1 ? 'Hel' : 'lo' })]);
    if (asked === 1) return;
    response.end(`data: ${JSON.stringify(chatChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
  });
  const model = createProvider({ id: 'p', adapter: 'groq', api_key: 'k', base_url: url }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });
  const told: Told[] = [];
  const sink = recoverableSink(told);
  const cutting: InferenceSink = {
    ...sink,
    text(delta) {
      sink.text(delta);
      if (delta === 'Hel') open?.destroy();
    },
  };
  const { pause } = recordingPause();
  const end = await withRecovery(model, DEFAULT_RETRY, pause).stream(
    requestOf('ask'),
    cutting,
    new AbortController().signal,
  );
  t.same(told, [
    ['text', 'Hel'],
    ['text', 'lo'],
  ]);
  t.equal(end.stop, 'EndTurn');
  t.match(JSON.parse(requests[1]?.body ?? '').messages, [
    { role: 'user', content: 'ask' },
    { role: 'assistant', content: 'Hel' },
    { role: 'user', content: /Go on exactly/ },
  ]);
});

t.test('aborts a silent provider after the idle window of the settings', async (t) => {
  let asked = 0;
  const { url } = await startSseServer(t, (response) => {
    asked += 1;
    if (asked === 1) return sendEvents(response, [chatChunk({ reasoning_content: 'Hm' })]);
    sendEvents(response, [chatChunk({ content: 'Hello' }), chatChunk({}, 'stop')]);
    response.end();
  });
  const model = createProvider({ id: 'p', adapter: 'groq', api_key: 'k', base_url: url }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });
  const settings = { ...DEFAULT_RETRY, stream_idle_timeout_secs: 1 };
  const { told } = await run(withRecovery(model, settings, recordingPause().pause));
  t.same(told, [
    ['reasoning', 'Hm'],
    ['reset', 'idle stall'],
    ['text', 'Hello'],
  ]);
});
