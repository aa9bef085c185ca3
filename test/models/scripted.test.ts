import t from 'tap';
import type { InferenceRequest } from '../../src/models/model.ts';
import { createProvider } from './create-provider.ts';
import { type Heard, infer, inferenceFailure, requestOf, userMessage } from './infer.ts';

const model = createProvider({ id: 'p', adapter: 'scripted' }, {}).model({
  id: 'default',
  provider_id: 'p',
  upstream_model: 'scripted-1',
});

t.test('a scripted model has the id, provider and upstream name of its spec', async (t) => {
  t.match(model, { id: 'default', provider: 'p', upstream: 'scripted-1' });
});

const A2UI =
  '{"messages":[{"surfaceUpdate":{"surfaceId":"demo","components":[{"id":"root","component":{"Card":{"child":"text1"}}},{"id":"text1","component":{"Text":{"text":{"literalString":"Hello A2UI"}}}}]}},{"dataModelUpdate":{"surfaceId":"demo","path":"/","contents":[{"key":"greeting","valueString":"Hello A2UI"}]}},{"beginRendering":{"surfaceId":"demo","root":"root"}}]}';

const called = (id: string, name: string, args: string): Heard[] => [
  ['start', id, name],
  ['delta', id, args],
  ['end', id, args],
];

const usage = (completion: number) => ({
  prompt_tokens: 10,
  completion_tokens: completion,
  total_tokens: 10 + completion,
});

const rows: [name: string, user: string, heard: Heard[], end: unknown][] = [
  [
    'RUN_A2UI_TOOL',
    'please RUN_A2UI_TOOL now',
    called('call_a2ui_1', 'render_a2ui', A2UI),
    { stop: 'ToolUse', usage: usage(15) },
  ],
  [
    'RUN_WEATHER_TOOL',
    'RUN_WEATHER_TOOL',
    called('call_weather_1', 'get_weather', '{"location":"Tokyo"}'),
    { stop: 'ToolUse', usage: usage(5) },
  ],
  [
    'RUN_STOCK_TOOL',
    'RUN_STOCK_TOOL',
    called('call_stock_1', 'get_stock_price', '{"symbol":"AAPL"}'),
    { stop: 'ToolUse', usage: usage(5) },
  ],
  [
    'RUN_TOOL_SEARCH_WEATHER',
    'RUN_TOOL_SEARCH_WEATHER',
    called('call_tool_search_weather_1', 'ToolSearch', '{"query":"select:get_weather","max_results":5}'),
    { stop: 'ToolUse', usage: usage(5) },
  ],
  [
    'the first directive of the table',
    'RUN_STOCK_TOOL RUN_WEATHER_TOOL',
    called('call_weather_1', 'get_weather', '{"location":"Tokyo"}'),
    { stop: 'ToolUse', usage: usage(5) },
  ],
  ['plain text', 'Hello', [['text', 'Scripted response to: Hello']], { stop: 'EndTurn', usage: usage(20) }],
  [
    'a directive it does not know as plain text',
    'RUN_FINISH_TOOL',
    [['text', 'Scripted response to: RUN_FINISH_TOOL']],
    { stop: 'EndTurn', usage: usage(20) },
  ],
  ['an empty message', '', [['text', 'Scripted response to: ']], { stop: 'EndTurn', usage: usage(20) }],
];
for (const [name, user, heard, end] of rows) {
  t.test(`the scripted model responds to ${name}`, async (t) => {
    t.same(await infer(model, requestOf(user)), { heard, end });
  });
}

const cuts: [name: string, user: string, echoed: string][] = [
  ['50 bytes are kept', 'x'.repeat(50), 'x'.repeat(50)],
  ['the 51st byte is not', 'x'.repeat(51), 'x'.repeat(50)],
  ['a character of two bytes is not split', `a${'é'.repeat(60)}`, `a${'é'.repeat(24)}`],
  ['characters that end at byte 50 are kept', 'é'.repeat(60), 'é'.repeat(25)],
  ['a character of four bytes is not split', `abc${'😀'.repeat(20)}`, `abc${'😀'.repeat(11)}`],
];
for (const [name, user, echoed] of cuts) {
  t.test(`echoes the prompt: ${name}`, async (t) => {
    const { heard } = await infer(model, requestOf(user));
    t.same(heard, [['text', `Scripted response to: ${echoed}`]]);
  });
}

t.test('answers the question about the weather with the result of one call', async (t) => {
  const question = userMessage('How is the weather in Tokyo?');
  const tools = [{ id: 'get_weather', name: 'Get Weather', description: '', parameters: {}, category: null }];
  const after = (text: string) => [
    question,
    {
      id: 'a',
      role: 'assistant' as const,
      content: [],
      tool_calls: [{ id: 'call_weather_1', name: 'get_weather', arguments: { location: 'Tokyo' } }],
    },
    {
      id: 'b',
      role: 'tool' as const,
      tool_call_id: 'call_weather_1',
      content: [{ type: 'text' as const, text }],
    },
  ];
  const heard = async (messages: InferenceRequest['messages'], offered = tools) =>
    (await infer(model, requestOf('', { messages, tools: offered }))).heard;
  t.match((await heard([question]))[0], ['start', 'call_weather_1']);
  const data = { location: 'Tokyo', condition: 'Sunny', temperature_f: 70, humidity_pct: 45 };
  t.strictSame(await heard(after(JSON.stringify(data))), [
    ['text', 'It is sunny in Tokyo: 70 °F with 45 % humidity.'],
  ]);
  t.strictSame(await heard(after('it failed')), [['text', 'The weather is not available: it failed']]);
  t.match(
    (await heard([question], []))[0],
    ['text', 'Scripted response to: How is the weather in Tokyo?'],
    'the answer does not use the tool',
  );
});

t.test('numbers a call that was made before', async (t) => {
  const asked = (id: string) => ({ id, name: 'get_weather', arguments: {} });
  const before: [ids: string[], id: string][] = [
    [['call_stock_1', 'my_call_weather_1'], 'call_weather_1'],
    [['call_weather_1'], 'call_weather_1_2'],
    [['call_weather_1', 'call_weather_1_2'], 'call_weather_1_3'],
    [['call_weather_10'], 'call_weather_1'],
  ];
  for (const [ids, id] of before) {
    const request = requestOf('', {
      messages: [
        { id: 'a', role: 'assistant', content: [], tool_calls: ids.map(asked) },
        userMessage('RUN_WEATHER_TOOL'),
      ],
    });
    t.match((await infer(model, request)).heard[0], ['start', id]);
  }
});

t.test('uses only the last user message, including internal ones', async (t) => {
  const request: InferenceRequest = requestOf('', {
    messages: [
      userMessage('RUN_WEATHER_TOOL'),
      { ...userMessage('continue'), visibility: 'internal' },
      { id: 'a', role: 'assistant', content: [{ type: 'text', text: 'RUN_STOCK_TOOL' }] },
    ],
  });
  t.same((await infer(model, request)).heard, [['text', 'Scripted response to: continue']]);
});

const titles: [user: string, title: string][] = [
  ['Weather please RUN_STOCK_TOOL', 'Beijing weather card'],
  ['hello', 'Troupe assistant'],
];
for (const [user, title] of titles) {
  t.test(`returns five statements titled ${title} for a system text with OpenUI Lang`, async (t) => {
    const { heard, end } = await infer(model, requestOf(user, { system: ['Hi.', 'Answer in OpenUI Lang.'] }));
    const statements = String(heard[0]?.[1]).split('\n');
    t.equal(heard.length, 1);
    t.equal(statements.length, 5);
    t.equal(statements[0], 'root = Card([title, summary, actions])');
    t.ok(statements[1]?.includes(`"${title}"`));
    t.same(end, { stop: 'EndTurn', usage: usage(20) });
  });
}

t.test('returns nothing for a run that is already cancelled', async (t) => {
  const { heard, error } = await inferenceFailure(model, requestOf('Hello'), AbortSignal.abort());
  t.same(heard, []);
  t.match(error, { class: 'cancelled', message: 'cancelled', transient: false });
});
