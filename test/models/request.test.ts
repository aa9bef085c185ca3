import t, { type Test } from 'tap';
import type { InferenceRequest } from '../../src/models/model.ts';
import { createProvider as createWith } from '../../src/models/provider.ts';
import type { Transport } from '../../src/models/transport/types.ts';
import type { ContentBlock, Message } from '../../src/schema/message.ts';
import type { ModelSpec, ProviderSpec } from '../../src/schema/model.ts';
import { createProvider, NO_TRANSPORT } from './create-provider.ts';
import { infer, inferenceFailure, requestOf, userMessage } from './infer.ts';
import { ANTHROPIC_ANSWER, chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Requests to a provider, as it receives them. */

const geminiEnd = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }] },
];
const responsesEnd = [
  {
    type: 'response.completed',
    response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1 }, incomplete_details: null },
  },
];
const chatEnd = [chatChunk({ content: 'Hi' }), chatChunk({}, 'stop')];

const ENDS: Record<string, readonly object[]> = {
  anthropic: ANTHROPIC_ANSWER,
  gemini: geminiEnd,
  openai_resp: responsesEnd,
};

type Sent = { url: string; headers: Record<string, unknown>; body: Record<string, unknown> };
type Setup = { provider?: Partial<ProviderSpec>; model?: Partial<ModelSpec>; path?: string };

const send = async (
  t: Test,
  adapter: string,
  request: InferenceRequest,
  { provider, model, path = '' }: Setup = {},
): Promise<Sent> => {
  const { url, requests } = await startSseServer(t, (response) => {
    sendEvents(response, ENDS[adapter] ?? chatEnd);
    response.end();
  });
  const spec = { id: 'p', adapter, api_key: 'key', base_url: `${url}${path}`, ...provider };
  await infer(
    createProvider(spec, {}).model({ id: 'm', provider_id: 'p', upstream_model: 'up', ...model }),
    request,
  );
  const [seen] = requests;
  if (!seen) throw new Error('nothing was sent');
  return { url: seen.url, headers: seen.headers, body: JSON.parse(seen.body) };
};

const addresses: [adapter: string, path: string][] = [
  ['openai', '/chat/completions'],
  ['openai_resp', '/responses'],
  ['groq', '/chat/completions'],
  ['anthropic', '/messages'],
  ['gemini', '/models/up:streamGenerateContent?alt=sse'],
];
for (const [adapter, path] of addresses) {
  t.test(`${adapter}: accepts base_url with and without a trailing slash`, async (t) => {
    t.equal((await send(t, adapter, requestOf('x'), { path: '/v1' })).url, `/v1${path}`);
    t.equal((await send(t, adapter, requestOf('x'), { path: '/v1/' })).url, `/v1${path}`);
  });
}

t.test('sends the key and extra headers with every call', async (t) => {
  const provider = { adapter_options: { headers: { 'x-team': 'blue' } } };
  for (const adapter of ['openai', 'openai_resp', 'groq']) {
    const { headers } = await send(t, adapter, requestOf('x'), { provider });
    t.match(headers, { authorization: 'Bearer key', 'x-team': 'blue' });
  }
  const anthropic = await send(t, 'anthropic', requestOf('x'), { provider });
  t.match(anthropic.headers, { 'x-api-key': 'key', 'x-team': 'blue' });
  const gemini = await send(t, 'gemini', requestOf('x'), { provider });
  t.match(gemini.headers, { 'x-goog-api-key': 'key', 'x-team': 'blue' });
});

t.test('sends overrides, but no null or absent ones', async (t) => {
  const set = { temperature: 0, top_p: 0.5, max_tokens: 7, upstream_model: 'other' };
  const { body } = await send(t, 'groq', requestOf('x', { overrides: set }));
  t.match(body, { model: 'other', temperature: 0, top_p: 0.5, max_tokens: 7 });
  const unset = {
    temperature: null,
    top_p: null,
    max_tokens: null,
    upstream_model: null,
    reasoning_effort: null,
  };
  const plain = (await send(t, 'groq', requestOf('x', { overrides: unset }))).body;
  t.same(Object.keys(plain).sort(), ['messages', 'model', 'stream', 'stream_options']);
  t.equal(plain.model, 'up');
});

t.test('applies the output limit of the model if the run sets none', async (t) => {
  const model = { max_output_tokens: 99 };
  t.equal((await send(t, 'groq', requestOf('x'), { model })).body.max_tokens, 99);
  const overrides = { max_tokens: 5 };
  t.equal((await send(t, 'groq', requestOf('x', { overrides }), { model })).body.max_tokens, 5);
});

t.test('sends tools by id with their schema', async (t) => {
  const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
  const tools = [{ id: 'search', name: 'Search', description: 'Finds.', category: null, parameters }];
  const { body } = await send(t, 'groq', requestOf('x', { tools }));
  t.match(body.tools, [
    { type: 'function', function: { name: 'search', description: 'Finds.', parameters } },
  ]);
});

const history: Message[] = [
  userMessage('weather?'),
  {
    id: 'a1',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Looking.' },
    ],
    tool_calls: [{ id: 'c1', name: 'get_weather', arguments: { location: 'Oslo' } }],
  },
  { id: 't1', role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '7 C' }] },
  { id: 'e', role: 'assistant', content: [] },
  { id: 's', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
  userMessage('and now?'),
];

t.test('openai: keeps the order of the history, its calls and results', async (t) => {
  const { body } = await send(
    t,
    'openai',
    requestOf('', { system: ['One.', '', 'Two.'], messages: history }),
  );
  t.match(body.messages, [
    { role: 'system', content: 'One.' },
    { role: 'system', content: 'Two.' },
    { role: 'user', content: 'weather?' },
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [{ id: 'c1', function: { name: 'get_weather', arguments: '{"location":"Oslo"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '7 C' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'and now?' },
  ]);
  t.equal(Array.isArray(body.messages) && body.messages.length, 7);
});

t.test('anthropic and gemini: moves system texts of the history to the front', async (t) => {
  const request = requestOf('', { system: ['One.'], messages: history });
  const { body } = await send(t, 'anthropic', request);
  t.match(body, {
    system: [{ text: 'One.' }, { text: 'Be brief.' }],
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ type: 'text' }, { type: 'tool_use', id: 'c1', input: { location: 'Oslo' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1' },
          { type: 'text', text: 'and now?' },
        ],
      },
    ],
  });
  const gemini = await send(t, 'gemini', request);
  t.match(gemini.body, {
    systemInstruction: { parts: [{ text: 'One.' }, { text: 'Be brief.' }] },
    contents: [
      { role: 'user' },
      { role: 'model' },
      { role: 'user', parts: [{ functionResponse: { name: 'get_weather' } }] },
      { role: 'user' },
    ],
  });
});

t.test('converts calls and results in blocks', async (t) => {
  const messages: Message[] = [
    userMessage('x'),
    { id: 'a', role: 'assistant', content: [{ type: 'tool_use', id: 'c9', name: 'search', input: null }] },
    {
      id: 'r',
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c9', content: [{ type: 'text', text: 'found' }] }],
    },
  ];
  const { body } = await send(t, 'openai', requestOf('', { messages }));
  t.match(body.messages, [
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'c9', function: { name: 'search', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c9', content: 'found' },
  ]);
});

const block = (content: ContentBlock): InferenceRequest =>
  requestOf('', { messages: [{ id: 'u', role: 'user', content: [{ type: 'text', text: 'see' }, content] }] });
const linked = <T extends 'image' | 'document' | 'audio' | 'video'>(type: T) =>
  block({ type, source: { type: 'url', url: 'https://example.org/file' } });
const inline = <T extends 'image' | 'document' | 'audio' | 'video'>(type: T, media_type: string) =>
  block({ type, source: { type: 'base64', media_type, data: 'AAAA' }, title: 'Spec' });

const media: [adapter: string, request: InferenceRequest, sent: object][] = [
  ['openai', linked('image'), { image_url: { url: 'https://example.org/file' } }],
  ['openai', inline('image', 'image/png'), { image_url: { url: 'data:image/png;base64,AAAA' } }],
  ['openai', inline('audio', 'audio/wav'), { input_audio: { data: 'AAAA', format: 'wav' } }],
  ['openai', inline('document', 'application/pdf'), { file: { filename: 'Spec' } }],
  ['anthropic', linked('image'), { type: 'image', source: { type: 'url', url: 'https://example.org/file' } }],
  ['anthropic', linked('document'), { type: 'document', source: { type: 'url' } }],
  ['anthropic', inline('image', 'image/png'), { type: 'image', source: { type: 'base64', data: 'AAAA' } }],
  ['gemini', linked('video'), { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.org/file' } }],
  ['gemini', inline('audio', 'audio/ogg'), { inlineData: { mimeType: 'audio/ogg', data: 'AAAA' } }],
];
for (const [adapter, request, sent] of media) {
  const [message] = request.messages;
  t.test(`${adapter} receives ${JSON.stringify(message?.content[1])}`, async (t) => {
    const { body } = await send(t, adapter, request);
    const list = body.messages ?? body.contents;
    t.match(list, [
      adapter === 'gemini' ? { parts: [{ text: 'see' }, sent] } : { content: [{ type: 'text' }, sent] },
    ]);
  });
}

const refused: [
  name: string,
  adapter: string,
  request: InferenceRequest,
  model: Partial<ModelSpec>,
  why: string,
][] = [
  [
    'the spec rules the block out',
    'gemini',
    inline('audio', 'audio/ogg'),
    { modalities: { input: ['text', 'image'] } },
    'this model does not take audio input',
  ],
  [
    'the spec rules documents out',
    'gemini',
    linked('document'),
    { modalities: { input: ['text'] } },
    'this model does not take pdf input',
  ],
  [
    'the protocol has no such block',
    'openai',
    linked('video'),
    {},
    'file part media type video/mp4 not supported by this provider',
  ],
  [
    'a URL is not one',
    'gemini',
    block({ type: 'image', source: { type: 'url', url: 'nope' } }),
    {},
    "'nope' is not a URL",
  ],
];
for (const [name, adapter, request, model, why] of refused) {
  t.test(`sends nothing when ${name}`, async (t) => {
    const { url, requests } = await startSseServer(t, (response) => response.end());
    const provider = createProvider({ id: 'p', adapter, api_key: 'key', base_url: url }, {});
    const { error } = await inferenceFailure(
      provider.model({ id: 'm', provider_id: 'p', upstream_model: 'up', ...model }),
      request,
    );
    t.match(error, { class: 'invalid_request', transient: false, message: `invalid request: ${why}` });
    t.equal(requests.length, 0);
  });
}

t.test('sends a block that the spec allows', async (t) => {
  const model: Partial<ModelSpec> = { modalities: { input: ['text', 'image'] } };
  t.ok(await send(t, 'openai', linked('image'), { model }));
});

t.test('omits settings that OpenAI models reject, even through a gateway', async (t) => {
  const overrides = { max_tokens: 7, temperature: 0.5, top_p: 0.5 };
  for (const upstream_model of ['o3-mini', 'gpt-5.1', 'openai/gpt-5']) {
    const { body } = await send(t, 'openai', requestOf('x', { overrides }), { model: { upstream_model } });
    t.match(body, { model: upstream_model, max_completion_tokens: 7 });
    for (const key of ['max_tokens', 'temperature', 'top_p']) t.notOk(key in body, key);
  }
  for (const upstream_model of ['gpt-4o', 'gpt-oss-20b', 'gpt-5-chat', 'gpt-35-turbo', 'qwen3']) {
    const { body } = await send(t, 'openai', requestOf('x', { overrides }), { model: { upstream_model } });
    t.match(body, { max_tokens: 7, temperature: 0.5, top_p: 0.5 });
    t.notOk('max_completion_tokens' in body);
  }
});

t.test('requests usage and sends a cache key to an OpenAI-compatible server', async (t) => {
  const request = requestOf('x', {
    session: { thread_id: 'thread', run_id: 'r' },
    cache: { stable_messages: 0 },
  });
  const { body } = await send(t, 'openai', request);
  t.match(body, { stream_options: { include_usage: true }, prompt_cache_key: 'thread' });
});

t.test('uses the fields of OpenAI for OpenAI itself', async (t) => {
  const seen: { url: string; body: unknown }[] = [];
  const transport: Transport = {
    ...NO_TRANSPORT,
    async stream({ url, body }, reader) {
      seen.push({ url, body: JSON.parse(body.toString()) });
      for (const event of chatEnd) reader.event('', JSON.stringify(event));
      return 'ended';
    },
  };
  for (const base_url of ['', 'https://eu.api.openai.com/v1', 'https://us.openai.azure.com/openai/v1']) {
    const model = createWith({ id: 'p', adapter: 'openai', api_key: 'key', base_url }, {}, transport).model({
      id: 'm',
      provider_id: 'p',
      upstream_model: 'o3',
    });
    const overrides = { max_tokens: 7, reasoning_effort: 'max' } as const;
    await infer(model, requestOf('x', { system: ['s'], overrides }));
    t.match(seen.at(-1), {
      url: `${base_url || 'https://api.openai.com/v1'}/chat/completions`,
      body: { messages: [{ role: 'developer' }, {}], max_completion_tokens: 7, reasoning_effort: 'high' },
    });
  }
});

type Effort = NonNullable<InferenceRequest['overrides']['reasoning_effort']>;
const efforts: [adapter: string, upstream: string, effort: Effort, sent: object][] = [
  ['openai', 'gpt-5', 'low', { reasoning_effort: 'low' }],
  ['openai', 'gpt-5', 'max', { reasoning_effort: 'high' }],
  ['openai', 'up', 'max', { reasoning_effort: 'high' }],
  ['openai', 'up', { budget: 9000 }, { reasoning_effort: 'medium' }],
  ['openai', 'up', { budget: 1 }, { reasoning_effort: 'low' }],
  ['openai', 'up', { budget: 0 }, { reasoning_effort: 'none' }],
  ['openai_resp', 'gpt-5', 'high', { reasoning: { effort: 'high', summary: 'auto' }, store: false }],
  ['groq', 'up', 'max', { reasoning_effort: 'high' }],
  ['anthropic', 'claude-3-7-sonnet', 'medium', { thinking: { type: 'enabled', budget_tokens: 8192 } }],
  [
    'anthropic',
    'claude-3-7-sonnet',
    { budget: 4096 },
    { thinking: { type: 'enabled', budget_tokens: 4096 } },
  ],
  [
    'anthropic',
    'claude-opus-4-7',
    'high',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ],
  ['anthropic', 'claude-3-7-sonnet', 'none', { thinking: { type: 'disabled' } }],
  [
    'gemini',
    'gemini-2.5-pro',
    'low',
    { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
  ],
  [
    'gemini',
    'gemini-3-pro',
    'max',
    { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } },
  ],
  [
    'gemini',
    'gemini-2.5-flash',
    'none',
    { generationConfig: { thinkingConfig: { includeThoughts: false, thinkingBudget: 0 } } },
  ],
];
for (const [adapter, upstream_model, effort, sent] of efforts) {
  t.test(`${adapter}: ${upstream_model} receives effort ${JSON.stringify(effort)}`, async (t) => {
    const request = requestOf('x', { overrides: { reasoning_effort: effort } });
    t.match((await send(t, adapter, request, { model: { upstream_model } })).body, sent);
  });
}

const session = { thread_id: 't'.repeat(70), run_id: 'r' };
const long = { system: ['Prompt.', 'Today.'], messages: history, session };

t.test('anthropic: marks the system prompt and the stable messages for the cache', async (t) => {
  const { body } = await send(t, 'anthropic', requestOf('', { ...long, cache: { stable_messages: 3 } }));
  const kept = { cache_control: { type: 'ephemeral' } };
  t.match(body.system, [{ text: 'Prompt.', ...kept }, { text: 'Today.' }, { text: 'Be brief.' }]);
  t.match(body.messages, [{}, {}, { content: [{ type: 'tool_result', ...kept }, { text: 'and now?' }] }]);
  t.equal(JSON.stringify(body).split('ephemeral').length - 1, 2);
});

t.test('moves the mark of a message that is not sent to the previous one', async (t) => {
  const { body } = await send(t, 'anthropic', requestOf('', { ...long, cache: { stable_messages: 5 } }));
  t.match(body.messages, [{}, {}, { content: [{ type: 'tool_result', cache_control: {} }, {}] }]);
});

t.test('openai: sends a cache key for related requests', async (t) => {
  for (const adapter of ['openai', 'openai_resp']) {
    const { body } = await send(t, adapter, requestOf('x', { session, cache: { stable_messages: 0 } }));
    t.equal(body.prompt_cache_key, 't'.repeat(64));
    t.notOk(
      (await send(t, adapter, requestOf('x', { cache: { stable_messages: 0 } }))).body.prompt_cache_key,
    );
  }
});

t.test('marks nothing without a cache request, or for protocols without marks', async (t) => {
  t.notMatch(JSON.stringify((await send(t, 'anthropic', requestOf('', long))).body), /cache/);
  t.notMatch(JSON.stringify((await send(t, 'openai', requestOf('', long))).body), /cache/);
  for (const adapter of ['groq', 'gemini']) {
    const { body } = await send(t, adapter, requestOf('', { ...long, cache: { stable_messages: 3 } }));
    t.notMatch(JSON.stringify(body), /cache/);
  }
});

t.test('reports a stream that is silent for longer than the request allows as an idle stall', async (t) => {
  const { url } = await startSseServer(t, (response) =>
    sendEvents(response, [chatChunk({ content: 'Hel' })]),
  );
  const model = createProvider({ id: 'p', adapter: 'groq', api_key: 'key', base_url: url }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
  });
  const { error } = await inferenceFailure(model, requestOf('x', { stream_idle_timeout_secs: 0.1 }));
  t.match(error, { class: 'stream_interrupted', message: 'stream interrupted (idle stall)' });
});

t.test('accepts every block for a spec with an empty list of modalities', async (t) => {
  t.ok(await send(t, 'openai', linked('image'), { model: { modalities: { input: [] } } }));
});

t.test('renames a tool whose id providers reject, and maps its calls back to the id', async (t) => {
  const id = 'agent_run_sales bot';
  const tool = {
    id,
    name: id,
    description: 'd',
    parameters: { anyOf: [{ type: 'object' }] },
    category: null,
  };
  let name = '';
  const { url, requests } = await startSseServer(t, (response) => {
    name = JSON.parse(requests[0]?.body ?? '').tools[0].function.name;
    const call = { index: 0, id: 'c1', type: 'function', function: { name, arguments: '{}' } };
    sendEvents(response, [chatChunk({ tool_calls: [call] }), chatChunk({}, 'tool_calls')]);
    response.end();
  });
  const spec = { id: 'p', adapter: 'groq', api_key: 'key', base_url: url };
  const started: string[] = [];
  const model = createProvider(spec, {}).model({ id: 'm', provider_id: 'p', upstream_model: 'up' });
  const nothing = (): void => {};
  const sink = {
    text: nothing,
    reasoning: nothing,
    reasoningEncrypted: nothing,
    toolStart: (_: string, called: string) => void started.push(called),
    toolDelta: nothing,
    toolEnd: nothing,
  };
  const before: Message = {
    id: 'a',
    role: 'assistant',
    content: [],
    tool_calls: [{ id: 'c0', name: id, arguments: {} }],
  };
  const result: Message = {
    id: 'r',
    role: 'tool',
    tool_call_id: 'c0',
    content: [{ type: 'text', text: 'x' }],
  };
  await model.stream(
    requestOf('x', { tools: [tool], messages: [userMessage('x'), before, result] }),
    sink,
    new AbortController().signal,
  );
  t.match(name, /^agent_run_sales_bot__[0-9a-f]{8}$/);
  t.strictSame(started, [id]);
  const body = JSON.parse(requests[0]?.body ?? '');
  t.equal(body.messages[1].tool_calls[0].function.name, name);
  t.strictSame(body.tools[0].function.parameters, { type: 'object', properties: {} });
});
