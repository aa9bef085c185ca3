import t from 'tap';
import { toPrompt, toPrompt4 } from '../../src/ai-sdk/prompt.ts';
import type { InferenceRequest } from '../../src/models/model.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import type { Message } from '../../src/schema/message.ts';
import { requestOf, userMessage } from '../models/infer.ts';

/** The history of a thread as a prompt of either version. */

const origin = { provider: 'p', model: 'up', format: 'ai-sdk' };
const rules = { modalities: undefined, systemFirst: true, origin };

const kept = (item: JsonObject, text: number, calls = 0) => ({ ...origin, after: { text, calls }, item });

const signature = { bedrock: { signature: 'sig' } };

const answer: Message = {
  id: 'a',
  role: 'assistant',
  content: [{ type: 'text', text: 'Intro. Hello' }],
  tool_calls: [
    { id: 'call 1', name: 'get weather', arguments: { city: 'Oslo' } },
    { id: 'c2', name: 'search', arguments: null },
  ],
  metadata: {
    reasoning_items: [
      kept({ type: 'reasoning', text: 'Hm', metadata: signature }, 0),
      kept({ type: 'text', length: 5, metadata: { azure: { itemId: 'm' } } }, 12),
      kept({ type: 'custom', kind: 'a.b' }, 12),
      kept({ type: 'call', id: 'call 1', metadata: { google: { thoughtSignature: 's' } } }, 12, 1),
      kept({ type: 'telepathy', metadata: {} }, 12, 2),
      { ...kept({ type: 'reasoning', text: 'of another model' }, 12, 2), model: 'other' },
    ],
  },
};

const history: Message[] = [
  userMessage('weather?'),
  answer,
  { id: 'r1', role: 'tool', tool_call_id: 'call 1', content: [{ type: 'text', text: '7 C' }] },
  { id: 'r2', role: 'tool', tool_call_id: 'c2', content: [] },
  { id: 's', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
];

const request = requestOf('', { system: ['One.'], messages: history, cache: { stable_messages: 4 } });

const assistant = (custom: object[]) => [
  { type: 'reasoning', text: 'Hm', providerOptions: signature },
  { type: 'text', text: 'Intro. ' },
  { type: 'text', text: 'Hello', providerOptions: { azure: { itemId: 'm' } } },
  ...custom,
  {
    type: 'tool-call',
    toolName: 'get_weather__dce3870e',
    input: { city: 'Oslo' },
    providerOptions: { google: { thoughtSignature: 's' } },
  },
  { type: 'tool-call', toolCallId: 'c2', toolName: 'search', input: {} },
];

t.test('writes a history, with its kept parts as options of their blocks', async (t) => {
  const mark = { bedrock: { cachePoint: { type: 'default' } } };
  const prompt = toPrompt(request, { ...rules, cacheMark: mark });
  const calls = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const [id] = calls.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : []));
  t.match(id, /^call_1_[0-9a-f]{12}$/, 'the id is valid for every provider');
  const name = calls.flatMap((part) => (part.type === 'tool-call' ? part.toolName : []))[0];
  t.match(name, /^get_weather__[0-9a-f]{8}$/);
  const [reasoning, intro, text, call, last] = assistant([]);
  t.strictSame(prompt, [
    { role: 'system', content: 'One.', providerOptions: mark },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
    {
      role: 'assistant',
      content: [reasoning, intro, text, { ...call, toolCallId: id, toolName: name }, last],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value: '7 C' } },
        { type: 'tool-result', toolCallId: 'c2', toolName: 'search', output: { type: 'text', value: '' } },
      ],
      providerOptions: mark,
    },
  ]);
  t.match(toPrompt4(request, rules)[3], { content: [{}, {}, {}, { type: 'custom', kind: 'a.b' }, {}, {}] });
});

t.test('sets no mark if the request does not require it, or has no cache mark', async (t) => {
  const { cache: _, ...plain } = request;
  for (const prompt of [toPrompt(plain, { ...rules, cacheMark: signature }), toPrompt(request, rules)]) {
    t.strictSame(
      prompt.filter(({ providerOptions }) => providerOptions),
      [],
    );
  }
});

t.test('sends kept parts to no other model', async (t) => {
  for (const prompt of [
    toPrompt(request, { ...rules, origin: { ...origin, model: 'other' } }),
    toPrompt(request, { modalities: undefined, systemFirst: true }),
  ]) {
    t.notMatch(JSON.stringify(prompt), /"sig"|itemId|thoughtSignature/);
  }
});

t.test('leaves system messages in their place if the provider accepts them', async (t) => {
  const prompt = toPrompt(request, { ...rules, systemFirst: false });
  t.match(prompt.at(-1), { role: 'system', content: 'Be brief.' });
});

const withFile = (source: object): InferenceRequest =>
  requestOf('', {
    messages: [
      {
        id: 'u',
        role: 'user',
        // One of the sources below.
        content: [{ type: 'image', title: 'Photo', source } as Message['content'][number]],
      },
    ],
  });

t.test('writes files in the format of each version', async (t) => {
  const inline = withFile({ type: 'base64', media_type: 'image/png', data: 'AAAA' });
  const linked = withFile({ type: 'url', url: 'https://a.example/b.png' });
  const of3 = (data: unknown, mediaType: string) => [
    { role: 'user', content: [{ type: 'file', mediaType, data, filename: 'Photo' }] },
  ];
  t.strictSame(toPrompt(inline, rules), of3('AAAA', 'image/png'));
  t.strictSame(toPrompt(linked, rules), of3(new URL('https://a.example/b.png'), 'image/*'));
  t.strictSame(toPrompt4(inline, rules), of3({ type: 'data', data: 'AAAA' }, 'image/png'));
  t.strictSame(
    toPrompt4(linked, rules),
    of3({ type: 'url', url: new URL('https://a.example/b.png') }, 'image/*'),
  );
});

t.test('rejects a block that the model does not accept', async (t) => {
  t.throws(
    () =>
      toPrompt(withFile({ type: 'url', url: 'https://a.example' }), {
        ...rules,
        modalities: { input: ['text'] },
      }),
    { class: 'invalid_request', message: 'invalid request: this model does not take image input' },
  );
});
