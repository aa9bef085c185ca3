import type { LanguageModelV4StreamPart } from 'ai-sdk-provider-4';
import t from 'tap';
import { fromAiSdk } from '../../src/ai-sdk/index.ts';
import { defineProvider } from '../../src/models/define.ts';
import type { SentSettings } from '../../src/models/model.ts';
import { NOOP_SINK } from '../../src/models/noop-sink.ts';
import type { Message } from '../../src/schema/message.ts';
import { requestOf, userMessage } from '../models/infer.ts';
import {
  called,
  fakeModel3,
  fakeModel4,
  finish,
  inferFrom,
  modelOf,
  recorded,
  said,
  streamOf,
} from './fakes.ts';

/** Providers of models of the AI SDK, with models that need no package. */

const hello = () => streamOf([said('Hi'), finish('stop', 'stop', { counted: true })]);

const hello4 = () =>
  streamOf<LanguageModelV4StreamPart>([
    { type: 'text-delta', id: '0', delta: 'Hi' },
    { ...finish('stop'), finishReason: { unified: 'stop', raw: 'stop' } },
  ]);

t.test('requests one stream from a model of either version, and returns its completion', async (t) => {
  for (const model of [fakeModel3(hello), fakeModel4(hello4)]) {
    const { heard, end } = await inferFrom(model, requestOf('x'));
    t.strictSame(heard, [['text', 'Hi']]);
    t.equal(end?.stop, 'EndTurn');
    t.equal(model.asked.length, 1);
  }
});

t.test('sends overrides, tools and the trace as options of the call', async (t) => {
  const model = fakeModel3(hello);
  const tools = [
    { id: 'web search', name: 'w', description: 'Finds.', category: null, parameters: { type: 'object' } },
  ];
  const overrides = { temperature: 0, top_p: 0.5, max_tokens: 7, reasoning_effort: 'high' as const };
  const trace = { traceparent: '00-1-2-01' };
  await inferFrom(modelOf(model), requestOf('x', { tools, overrides, trace }));
  const [call] = model.asked;
  t.match(call, {
    temperature: 0,
    topP: 0.5,
    maxOutputTokens: 7,
    headers: trace,
    tools: [{ type: 'function', name: /^web_search__[0-9a-f]{8}$/, description: 'Finds.' }],
  });
  t.notOk(call && 'reasoning' in call, 'version 3 has no option for the effort');
  const unset = { temperature: null, top_p: null, max_tokens: null, reasoning_effort: null };
  await inferFrom(modelOf(model), requestOf('x', { overrides: unset }));
  t.strictSame(Object.keys(model.asked[1] ?? {}).sort(), ['abortSignal', 'prompt']);
  await inferFrom(modelOf(model, {}, { max_output_tokens: 99 }), requestOf('x'));
  t.equal(model.asked[2]?.maxOutputTokens, 99);
});

t.test('sends a tool choice, and none without tools', async (t) => {
  const model = fakeModel3(hello);
  const tools = [{ id: 'a b', name: 'w', description: '', category: null, parameters: { type: 'object' } }];
  for (const toolChoice of ['auto', 'none', 'required', { tool: 'a b' }, { tool: 'c' }] as const)
    await inferFrom(model, requestOf('x', { tools, toolChoice }));
  await inferFrom(model, requestOf('x', { toolChoice: 'required' }));
  t.match(
    model.asked.map(({ toolChoice }) => toolChoice),
    [
      { type: 'auto' },
      { type: 'none' },
      { type: 'required' },
      { type: 'tool', toolName: /^a_b__[0-9a-f]{8}$/ },
      undefined,
      undefined,
    ],
  );
});

t.test('sends stop sequences, the seed and provider options, and reports unsupported ones', async (t) => {
  const model = fakeModel3(hello);
  const sent: SentSettings[] = [];
  const overrides = {
    stop: ['END'],
    seed: 4,
    verbosity: 'low' as const,
    reasoning_effort: 'low' as const,
    provider_options: { bedrock: { b: 2 } },
  };
  const stream = fromAiSdk(model, { providerOptions: { bedrock: { a: 1, b: 1 } } });
  const provider = defineProvider({ id: 'p', stream });
  const spec = { id: 'm', provider_id: 'p', upstream_model: 'up' };
  const sink = { ...NOOP_SINK, sent: (settings: SentSettings) => sent.push(settings) };
  await provider.model(spec).stream(requestOf('x', { overrides }), sink, new AbortController().signal);
  t.match(model.asked[0], {
    stopSequences: ['END'],
    seed: 4,
    providerOptions: { bedrock: { a: 1, b: 2 } },
  });
  const reason = 'the AI SDK has no such setting; set it in provider_options, as the package names it';
  t.strictSame(sent, [
    {
      settings: { stop: ['END'], seed: 4, provider_options: { bedrock: { b: 2 } } },
      adjusted: ['verbosity', 'reasoning_effort'].map((setting) => ({ setting, sent: null, reason })),
    },
  ]);
});

t.test('sends the reasoning effort of a run to a model of version 4', async (t) => {
  const model = fakeModel4(hello4);
  for (const reasoning_effort of ['max', 'none', { budget: 9000 }] as const)
    await inferFrom(model, requestOf('x', { overrides: { reasoning_effort } }));
  t.strictSame(
    model.asked.map(({ reasoning }) => reasoning),
    ['max', 'none', 'medium'],
  );
});

t.test('sends provider options, including those that depend on the request', async (t) => {
  const model = fakeModel3(hello);
  const fixed = { bedrock: { guardrail: 'g' } };
  await inferFrom(modelOf(model, { providerOptions: fixed }), requestOf('x'));
  const byEffort = modelOf(model, {
    providerOptions: ({ overrides }, { upstream_model }) =>
      overrides.reasoning_effort == null ? undefined : { bedrock: { effort: upstream_model } },
  });
  await inferFrom(byEffort, requestOf('x', { overrides: { reasoning_effort: 'low' } }));
  await inferFrom(byEffort, requestOf('x'));
  t.strictSame(
    model.asked.map(({ providerOptions }) => providerOptions),
    [fixed, { bedrock: { effort: 'up' } }, undefined],
  );
});

t.test('calls a function for the model that a run names', async (t) => {
  const model = fakeModel3(hello);
  const names: string[] = [];
  const source = async (name: string) => {
    names.push(name);
    return model;
  };
  await inferFrom(modelOf(source), requestOf('x'));
  await inferFrom(modelOf(source), requestOf('x', { overrides: { upstream_model: 'other' } }));
  t.strictSame(names, ['up', 'other']);
  const { error } = await inferFrom(
    modelOf(model),
    requestOf('x', { overrides: { upstream_model: 'other' } }),
  );
  t.match(error, { class: 'invalid_request', message: /has one model, and 'other' is another/ });
});

t.test('rejects a model of a version other than 3 or 4', async (t) => {
  const old = { ...fakeModel3(hello), specificationVersion: 'v2' };
  // JavaScript programs can pass it.
  const untyped = old as unknown as ReturnType<typeof fakeModel3>;
  t.throws(() => fromAiSdk(untyped), { name: 'TypeError', message: /specification v3 or v4, got v2/ });
  const { error } = await inferFrom(
    modelOf(() => untyped),
    requestOf('x'),
  );
  t.match(error, { class: 'invalid_request', transient: false, message: /got v2/ });
  t.throws(() => fromAiSdk(fakeModel3(hello), { timeoutSeconds: 0 }), {
    name: 'RangeError',
    message: 'timeoutSeconds must be greater than 0 (got 0)',
  });
});

t.test('fails with the class of the error that the function or the model throws', async (t) => {
  const missing = Object.assign(new Error('no key'), { name: 'AI_LoadAPIKeyError' });
  const thrown = () => {
    throw missing;
  };
  for (const source of [thrown, fakeModel3(thrown), fakeModel3(() => Promise.reject(missing))]) {
    const { error } = await inferFrom(modelOf(source), requestOf('x'));
    t.match(error, { class: 'unauthorized', message: 'unauthorized: no key' });
  }
});

t.test('reports calls with the ids of the tools', async (t) => {
  const id = 'agent_run_sales bot';
  const tool = { id, name: id, description: 'd', category: null, parameters: { type: 'object' } };
  const model = fakeModel3(({ tools = [] }) =>
    streamOf([
      { type: 'tool-call', toolCallId: 'c', toolName: tools[0]?.name ?? '', input: '{"q":1}' },
      finish('tool-calls'),
    ]),
  );
  const { heard } = await inferFrom(model, requestOf('x', { tools: [tool] }));
  t.strictSame(heard, [
    ['start', 'c', id],
    ['end', 'c', '{"q":1}'],
  ]);
});

t.test('returns the kept parts of an answer to the same model', async (t) => {
  const metadata = { bedrock: { signature: 'sig' } };
  const model = fakeModel3(() =>
    streamOf([
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-end', id: '0', providerMetadata: metadata },
      ...called('a', '{"q":1}'),
      finish('tool-calls'),
    ]),
  );
  const { items } = await inferFrom(modelOf(model), requestOf('x'));
  const answer: Message = {
    id: 'a',
    role: 'assistant',
    content: [],
    tool_calls: [{ id: 'a', name: 'search', arguments: { q: 1 } }],
    metadata: { reasoning_items: items.map((item) => ({ ...item, after: { text: 0, calls: 0 } })) },
  };
  const result: Message = { id: 'r', role: 'tool', tool_call_id: 'a', content: [] };
  const request = requestOf('', { messages: [userMessage('x'), answer, result] });
  await inferFrom(modelOf(model), request);
  await inferFrom(
    modelOf(() => model, {}, { upstream_model: 'other' }),
    request,
  );
  t.match(model.asked[1]?.prompt[1]?.content, [
    { type: 'reasoning', text: 'Hm', providerOptions: metadata },
    { type: 'tool-call', toolCallId: 'a' },
  ]);
  t.match(model.asked[2]?.prompt[1]?.content, [{ type: 'tool-call' }]);
});

const never = () => new ReadableStream<never>();
const hanging = (): Promise<never> => new Promise(() => {});

t.test('a model that never opens its stream is a timeout, even if it ignores its signal', async (t) => {
  for (const source of [fakeModel3(hanging), () => hanging()]) {
    const { error } = await inferFrom(modelOf(source, { timeoutSeconds: 0.05 }), requestOf('x'));
    t.match(error, { class: 'timeout', message: 'timeout: inference timeout after 0.05s' });
  }
});

t.test('a silent stream is a timeout, or an idle stall if the request limits silence', async (t) => {
  const model = fakeModel3(never);
  const { error } = await inferFrom(modelOf(model, { timeoutSeconds: 0.05 }), requestOf('x'));
  t.match(error, { class: 'timeout', message: 'timeout: stream idle timeout after 0.05s' });
  const idle = await inferFrom(modelOf(model), requestOf('x', { stream_idle_timeout_secs: 0.05 }));
  t.match(idle.error, { class: 'stream_interrupted', message: 'stream interrupted (idle stall)' });
  t.equal(model.asked[1]?.abortSignal?.aborted, true, 'the signal of the model is aborted');
});

t.test('a cancelled inference ends at once, and cancels its stream', async (t) => {
  const abort = new AbortController();
  let isCancelled = false;
  const waiting = new ReadableStream({
    cancel: () => {
      isCancelled = true;
    },
  });
  const inference = inferFrom(modelOf(fakeModel3(() => waiting)), requestOf('x'), abort.signal);
  setImmediate(() => abort.abort());
  t.match((await inference).error, { class: 'cancelled' });
  t.ok(isCancelled);
});

t.test('a stream that opens after the cancel is cancelled', async (t) => {
  const abort = new AbortController();
  let open = (_: ReadableStream<never>): void => {};
  // The model ignores its signal.
  const late = new Promise<never>((resolve) => {
    open = (stream) => resolve(stream as never);
  });
  const inference = inferFrom(modelOf(fakeModel3(() => late)), requestOf('x'), abort.signal);
  setImmediate(() => abort.abort());
  t.match((await inference).error, { class: 'cancelled' });
  await new Promise<void>((resolve) => open(new ReadableStream({ cancel: () => resolve() })));
});

t.test('an aborted signal sends no request', async (t) => {
  const model = fakeModel3(hello);
  const { error } = await inferFrom(modelOf(model), requestOf('x'), AbortSignal.abort());
  t.match(error, { class: 'cancelled' });
  t.equal(model.asked.length, 0);
});

t.test('the sink receives nothing after a cancel, not even parts that were already available', async (t) => {
  const abort = new AbortController();
  const { received, sink } = recorded();
  const model = modelOf(fakeModel3(() => streamOf([said('one'), said('two'), finish('stop')])));
  const cancelling = {
    ...sink,
    text: (delta: string) => {
      sink.text(delta);
      abort.abort();
    },
  };
  await t.rejects(model.stream(requestOf('x'), cancelling, abort.signal), { message: 'cancelled' });
  t.strictSame(received.heard, [['text', 'one']]);
});

t.test('the sink does not receive a part that was read just before a cancel', async (t) => {
  const abort = new AbortController();
  const racing = () =>
    new ReadableStream(
      {
        pull(controller) {
          controller.enqueue(said('late'));
          abort.abort();
        },
      },
      { highWaterMark: 0 },
    );
  const { heard, error } = await inferFrom(modelOf(fakeModel3(racing)), requestOf('x'), abort.signal);
  t.strictSame(heard, []);
  t.match(error, { class: 'cancelled' });
});

t.test('an error of the sink becomes the error of the inference, and cancels the stream', async (t) => {
  const { sink } = recorded();
  let isCancelled = false;
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(said('one')),
    cancel: () => {
      isCancelled = true;
    },
  });
  const failing = {
    ...sink,
    text: () => {
      throw new Error('the sink is full');
    },
  };
  const model = modelOf(fakeModel3(() => stream));
  await t.rejects(model.stream(requestOf('x'), failing, new AbortController().signal), /the sink is full/);
  t.ok(isCancelled);
});

t.test('a stream that closes without a finish part is an interruption', async (t) => {
  const { heard, error } = await inferFrom(
    fakeModel3(() => streamOf([said('Hi')])),
    requestOf('x'),
  );
  t.strictSame(heard, [['text', 'Hi']]);
  t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' });
});

t.test('a stream that fails is an interruption', async (t) => {
  const broken = () =>
    new ReadableStream({
      pull(controller) {
        controller.error(new TypeError('terminated'));
      },
    });
  const { error } = await inferFrom(fakeModel3(broken), requestOf('x'));
  t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' });
});

t.test('a stream that continues after its end is read for a limited time, then cancelled', async (t) => {
  let read = 0;
  let whenCancelled = (): void => {};
  const isCancelled = new Promise<void>((resolve) => {
    whenCancelled = resolve;
  });
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        read += 1;
        controller.enqueue(read === 1 ? finish('stop') : said('more'));
      },
      cancel: whenCancelled,
    });
  const { heard, end } = await inferFrom(fakeModel3(endless), requestOf('x'));
  t.strictSame({ heard, end }, { heard: [], end: { stop: 'EndTurn' } });
  await isCancelled;
  t.ok(read < 100);
});
