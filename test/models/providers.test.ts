import { LLMock } from '@copilotkit/aimock';
import t from 'tap';
import type { Model } from '../../src/models/model.ts';
import type { ToolDescriptor } from '../../src/schema/tool-descriptor.ts';
import { createProvider } from './create-provider.ts';
import { infer, inferenceFailure, joined, joinedArgs, requestOf, userMessage } from './infer.ts';
import { chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Every protocol against a mock of the real service; all of them receive the same requests. */

const mock = new LLMock({ port: 0, chunkSize: 4 });
mock.onMessage('hello', {
  content: 'Hello there, friend',
  usage: {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    input_tokens: 11,
    output_tokens: 7,
    promptTokenCount: 11,
    candidatesTokenCount: 7,
    totalTokenCount: 18,
  },
});
mock.onMessage('long', { content: 'It goes on and', finishReason: 'length' });
mock.onMessage('weather', {
  toolCalls: [{ id: 'call_w', name: 'get_weather', arguments: '{"location":"Oslo","unit":"celsius"}' }],
});
mock.onMessage('both', {
  toolCalls: [
    { id: 'call_a', name: 'get_weather', arguments: '{"location":"Oslo"}' },
    { id: 'call_b', name: 'get_stock_price', arguments: '{"symbol":"AAPL"}' },
  ],
});
mock.onMessage('bare', { toolCalls: [{ id: 'call_n', name: 'get_weather', arguments: '{}' }] });
mock.onMessage('think', { content: 'Four', reasoning: 'Two and two' });
mock.onMessage('slow', { content: 'One two three four five six' }, { latency: 500 });
mock.onMessage(
  'cut',
  { content: 'This will be cut short before its end' },
  { truncateAfterChunks: 4, latency: 5 },
);
mock.onMessage('busy', { error: { message: 'Slow down' }, status: 429, retryAfter: 7 });
mock.onMessage('broken', { error: { message: 'Oops' }, status: 500 });
mock.onMessage('denied', { error: { message: 'Bad key' }, status: 401 });

t.before(() => mock.start());
t.teardown(() => mock.stop());

const PROTOCOLS = [
  { adapter: 'openai', path: '/v1', upstream: 'gpt-4o' },
  { adapter: 'openai_resp', path: '/v1/', upstream: 'gpt-5' },
  { adapter: 'groq', path: '/v1', upstream: 'deepseek-reasoner' },
  { adapter: 'anthropic', path: '/v1', upstream: 'claude-sonnet-4-5' },
  { adapter: 'gemini', path: '/v1beta', upstream: 'gemini-2.5-pro' },
];

const tool = (id: string): ToolDescriptor => ({
  id,
  name: id,
  description: `Runs ${id}`,
  category: null,
  parameters: { type: 'object', properties: { location: { type: 'string' } } },
});
const tools = [tool('get_weather'), tool('get_stock_price')];

for (const { adapter, path, upstream } of PROTOCOLS) {
  t.test(adapter, async (t) => {
    const model: Model = createProvider(
      { id: 'p', adapter, api_key: 'key', base_url: `${mock.url}${path}` },
      {},
    ).model({ id: 'm', provider_id: 'p', upstream_model: upstream });

    t.test('streams text in chunks that add up', async (t) => {
      const { heard, end } = await infer(model, requestOf('hello'));
      t.equal(joined(heard, 'text'), 'Hello there, friend');
      t.ok(heard.length > 1);
      t.equal(end.stop, 'EndTurn');
    });

    t.test('reports usage in normalized fields', async (t) => {
      const { end } = await infer(model, requestOf('hello'));
      t.same(end.usage, { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    });

    // The mock omits the reason for an incomplete response of this protocol; openai-responses-ends.test.ts covers it.
    const skip = adapter === 'openai_resp';
    t.test('distinguishes the output limit from the end of a turn', { skip }, async (t) => {
      const { heard, end } = await infer(model, requestOf('long'));
      t.equal(joined(heard, 'text'), 'It goes on and');
      t.equal(end.stop, 'MaxTokens');
    });

    t.test('a tool call starts, streams its arguments and ends with all of them', async (t) => {
      const { heard, end } = await infer(model, requestOf('weather', { tools }));
      const first = heard.find(([kind]) => kind === 'start');
      t.match(first, ['start', String, 'get_weather']);
      const id = String(first?.[1]);
      t.same(JSON.parse(joinedArgs(heard)[id] ?? ''), { location: 'Oslo', unit: 'celsius' });
      t.same(JSON.parse(String(heard.at(-1)?.[2])), { location: 'Oslo', unit: 'celsius' });
      t.match(heard.at(-1), ['end', id, String]);
      t.equal(end.stop, 'ToolUse');
    });

    t.test('parallel calls keep their order, ids and arguments', async (t) => {
      const { heard, end } = await infer(model, requestOf('both', { tools }));
      const starts = heard.filter(([kind]) => kind === 'start');
      const ends = heard.filter(([kind]) => kind === 'end');
      t.same(
        starts.map(([, , name]) => name),
        ['get_weather', 'get_stock_price'],
      );
      t.same(
        ends.map(([, id]) => id),
        starts.map(([, id]) => id),
      );
      t.same(
        ends.map(([, , args]) => JSON.parse(String(args))),
        [{ location: 'Oslo' }, { symbol: 'AAPL' }],
      );
      t.equal(end.stop, 'ToolUse');
    });

    t.test('ends a call without arguments with an empty object or an empty string', async (t) => {
      const { heard } = await infer(model, requestOf('bare', { tools }));
      t.match(heard.at(-1), ['end', String, /^(\{\})?$/]);
    });

    t.test('reports 429 as rate limited, with the seconds to wait', async (t) => {
      const { error } = await inferenceFailure(model, requestOf('busy'));
      t.match(error, {
        class: 'rate_limited',
        transient: true,
        status: 429,
        retryAfterSeconds: 7,
        message: 'rate limited: Slow down',
      });
    });

    t.test('reports 500 as a provider error', async (t) => {
      const { error } = await inferenceFailure(model, requestOf('broken'));
      t.match(error, { class: 'provider', transient: true, status: 500, message: 'provider error: Oops' });
    });

    t.test('reports 401 as unauthorized and permanent', async (t) => {
      const { error } = await inferenceFailure(model, requestOf('denied'));
      t.match(error, { class: 'unauthorized', transient: false, message: 'unauthorized: Bad key' });
    });

    t.test('sends one request for a failing call', async (t) => {
      mock.clearRequests();
      await inferenceFailure(model, requestOf('broken'));
      t.equal(mock.getRequests().length, 1);
    });

    t.test('reports a broken stream as interrupted, and keeps its output', async (t) => {
      const { heard, error } = await inferenceFailure(model, requestOf('cut'));
      t.match(error, {
        class: 'stream_interrupted',
        transient: true,
        message: 'stream interrupted (connection reset)',
      });
      t.ok('This will be cut short before its end'.startsWith(joined(heard, 'text')));
    });

    t.test('a cancel ends a call that waits for its first event', async (t) => {
      const abort = new AbortController();
      const failing = inferenceFailure(model, requestOf('slow'), abort.signal);
      abort.abort();
      const { heard, error } = await failing;
      t.match(error, { class: 'cancelled', message: 'cancelled', transient: false });
      t.same(heard, []);
    });

    t.test('sends nothing to the sink after a cancel in the middle of a stream', async (t) => {
      const abort = new AbortController();
      const given: string[] = [];
      const ignore = (): void => {};
      const ended = model.stream(
        requestOf('hello'),
        {
          text: (delta) => {
            given.push(delta);
            abort.abort();
          },
          reasoning: ignore,
          reasoningEncrypted: ignore,
          toolStart: ignore,
          toolDelta: ignore,
          toolEnd: ignore,
        },
        abort.signal,
      );
      await t.rejects(ended, { message: 'cancelled' });
      t.equal(given.length, 1);
    });

    t.test('an upstream override changes the model name in the request', async (t) => {
      mock.clearRequests();
      await infer(model, requestOf('hello', { overrides: { upstream_model: `${upstream}-next` } }));
      const sent = mock.getLastRequest();
      t.ok(`${sent?.path} ${sent?.body?.model}`.includes(`${upstream}-next`));
    });
  });
}

t.test('distinguishes reasoning from text', async (t) => {
  for (const { adapter, path, upstream } of PROTOCOLS.filter(({ adapter }) => adapter !== 'openai')) {
    const model = createProvider(
      { id: 'p', adapter, api_key: 'key', base_url: `${mock.url}${path}` },
      {},
    ).model({ id: 'm', provider_id: 'p', upstream_model: upstream });
    const { heard } = await infer(model, requestOf('think', { overrides: { reasoning_effort: 'low' } }));
    t.equal(joined(heard, 'reasoning'), 'Two and two', adapter);
    t.equal(joined(heard, 'text'), 'Four', adapter);
  }
});

t.test('places a system text before the history', async (t) => {
  mock.clearRequests();
  const model = createProvider(
    { id: 'p', adapter: 'openai', api_key: 'key', base_url: `${mock.url}/v1` },
    {},
  ).model({ id: 'm', provider_id: 'p', upstream_model: 'gpt-4o' });
  await infer(model, { ...requestOf(''), system: ['Be brief.'], messages: [userMessage('hello')] });
  t.match(mock.getLastRequest()?.body, {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ],
  });
});

// The mock would keep the process alive until its teardown, which waits for the end.
t.end();

for (const field of ['reasoning_content', 'reasoning']) {
  t.test(`an OpenAI-compatible server streams its reasoning as ${field}`, async (t) => {
    const { url, requests } = await startSseServer(t, (response) => {
      sendEvents(response, [
        chatChunk({ role: 'assistant', [field]: 'Let me ' }),
        chatChunk({ [field]: 'see' }),
        chatChunk({ content: 'Four' }),
        {
          ...chatChunk({}, 'stop'),
          usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
        },
      ]);
      response.end('data: [DONE]\n\n');
    });
    const model = createProvider({ id: 'p', adapter: 'openai', api_key: 'key', base_url: url }, {}).model({
      id: 'm',
      provider_id: 'p',
      upstream_model: 'qwen3',
    });
    const { heard, end } = await infer(model, requestOf('2 and 2?'));
    t.same(heard, [
      ['reasoning', 'Let me '],
      ['reasoning', 'see'],
      ['text', 'Four'],
    ]);
    t.same(end.usage, { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
    t.match(requests[0], { url: '/chat/completions', headers: { authorization: 'Bearer key' } });
  });
}
