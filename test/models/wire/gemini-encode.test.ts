import t from 'tap';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { listOf, objectOf } from '../../../src/models/wire/read.ts';
import type { WireCall, WireRequest } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message, ReasoningItem } from '../../../src/schema/message.ts';
import { nameForModel } from '../../../src/schema/model-tool.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import { requestOf, userMessage } from '../infer.ts';
import { callOf } from './decode.ts';
import { refusalOfGemini } from './strict-gemini.ts';

/** Requests of the Gemini encoder for exact histories; each body is also checked by the rules of the service. */

type Platform = 'gemini' | 'vertex';

const encode = (
  request: Partial<InferenceRequest>,
  more: Partial<WireCall> = {},
  platform: Platform = 'gemini',
): WireRequest => {
  const call = callOf({ upstream: 'gemini-2.5-pro', ...more, request: requestOf('Hi', request) });
  const sent = geminiWire({ platform }).encode(call);
  const refusal = refusalOfGemini(sent, platform);
  if (refusal !== undefined) throw new Error(`${refusal}: ${JSON.stringify(sent)}`);
  return sent;
};
const contentsOf = (...given: Parameters<typeof encode>) => encode(...given).body.contents;

const item = (after: { text: number; calls: number }, json: JsonObject): ReasoningItem => ({
  provider: 'p',
  model: 'gemini-3-pro',
  format: 'gemini',
  after,
  item: json,
});
const answer = (text: string, more: Partial<Message> = {}): Message => ({
  id: 'a',
  role: 'assistant',
  content: text === '' ? [] : [{ type: 'text', text }],
  ...more,
});
const call = (id: string, name = 'look') => ({ id, name, arguments: { q: id } });
const result = (id: string, text = `found ${id}`): Message => ({
  id: `r${id}`,
  role: 'tool',
  tool_call_id: id,
  content: [{ type: 'text', text }],
});
const callPart = (id: string, more: JsonObject = {}): JsonObject => ({
  functionCall: { id, name: 'look', args: { q: id } },
  ...more,
});
const response = (id: string, content = `found ${id}`): JsonObject => ({
  functionResponse: { id, name: 'look', response: { name: 'look', content } },
});

const paths: [platform: Platform, upstream: string, path: string][] = [
  ['gemini', 'gemini-2.5-pro', 'models/gemini-2.5-pro'],
  ['gemini', 'models/gemini-2.5-pro', 'models/gemini-2.5-pro'],
  ['gemini', 'tunedModels/my-model', 'tunedModels/my-model'],
  ['gemini', 'publishers/google/models/x', 'publishers/google/models/x'],
  ['gemini', 'a?b#c', 'models/a%3Fb%23c'],
  ['vertex', 'gemini-2.5-pro@001', 'models/gemini-2.5-pro@001'],
  ['vertex', 'publishers/google/models/gemini-2.5-pro', 'models/gemini-2.5-pro'],
];
for (const [platform, upstream, path] of paths) {
  t.test(`${platform}: sends ${upstream} to ${path}`, async (t) => {
    t.equal(encode({}, { upstream }, platform).path, `${path}:streamGenerateContent?alt=sse`);
  });
}

t.test('rejects a model name that would change the path', async (t) => {
  for (const upstream of ['../secrets', 'models/../../x', 'models//x', '..', ''])
    t.throws(() => encode({}, { upstream }), { message: /^invalid request: .* is not the name of a model$/ });
});

t.test('sends only the history if nothing is set', async (t) => {
  t.strictSame(encode({}), {
    path: 'models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    headers: {},
    body: { generationConfig: {}, contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    sent: { settings: {}, adjusted: [] },
  });
});

t.test('sends overrides, and the output limit of the model if the run sets none', async (t) => {
  const overrides = { temperature: 0, top_p: 0.5, max_tokens: 7 };
  t.strictSame(encode({ overrides }).body.generationConfig, {
    maxOutputTokens: 7,
    temperature: 0,
    topP: 0.5,
  });
  const spec = { max_output_tokens: 99 };
  t.strictSame(encode({}, { spec }).body.generationConfig, { maxOutputTokens: 99 });
  t.strictSame(encode({ overrides: { max_tokens: null, temperature: null } }).body.generationConfig, {});
});

const efforts: [
  upstream: string,
  effort: InferenceRequest['overrides']['reasoning_effort'],
  sent: JsonObject,
][] = [
  ['gemini-2.5-pro', 'low', { includeThoughts: true, thinkingBudget: 1024 }],
  ['gemini-2.5-flash', 'none', { includeThoughts: false, thinkingBudget: 0 }],
  ['gemini-2.5-pro', 'max', { includeThoughts: true, thinkingBudget: 24_576 }],
  ['gemini-2.5-flash', { budget: 5 }, { includeThoughts: true, thinkingBudget: 5 }],
  ['gemini-2.5-pro', { budget: 5 }, { includeThoughts: true, thinkingBudget: 128 }],
  ['gemini-2.5-pro', 'none', { includeThoughts: false, thinkingBudget: 128 }],
  ['gemini-3-flash', 'none', { includeThoughts: false, thinkingLevel: 'minimal' }],
  ['gemini-3-pro', 'none', { includeThoughts: false, thinkingLevel: 'low' }],
  ['gemini-3-pro', { budget: 9000 }, { includeThoughts: true, thinkingLevel: 'high' }],
  ['gemini-3.1-pro', { budget: 9000 }, { includeThoughts: true, thinkingLevel: 'medium' }],
  ['gemini-3-pro', 'max', { includeThoughts: true, thinkingLevel: 'high' }],
];
for (const [upstream, reasoning_effort, sent] of efforts) {
  t.test(`${upstream} receives effort ${JSON.stringify(reasoning_effort)}`, async (t) => {
    const { body } = encode({ overrides: { reasoning_effort } }, { upstream });
    t.strictSame(body.generationConfig, { thinkingConfig: sent });
  });
}

t.test('combines system texts from any position into one instruction', async (t) => {
  const system: Message = { id: 's', role: 'system', content: [{ type: 'text', text: 'Two.' }] };
  const { body } = encode({ system: ['One.', ' '], messages: [userMessage('Hi'), system] });
  t.strictSame(body.systemInstruction, { parts: [{ text: 'One.' }, { text: 'Two.' }] });
  t.strictSame(body.contents, [{ role: 'user', parts: [{ text: 'Hi' }] }]);
});

t.test('sends system texts to Gemma in the first content of the user', async (t) => {
  for (const upstream of ['gemma-3-27b-it', 'models/gemma-3-27b-it']) {
    const { body } = encode({ system: ['One.', 'Two.'] }, { upstream });
    t.strictSame(body.contents, [{ role: 'user', parts: [{ text: 'One.\n\nTwo.\n\n' }, { text: 'Hi' }] }]);
    t.notOk('systemInstruction' in body);
  }
  t.strictSame(contentsOf({ system: ['One.'], messages: [answer('Hello')] }, { upstream: 'gemma-3-4b-it' }), [
    { role: 'user', parts: [{ text: 'One.\n\n' }] },
    { role: 'model', parts: [{ text: 'Hello' }] },
  ]);
});

t.test('combines results of parallel calls into one content, in the order of the calls', async (t) => {
  const messages = [
    userMessage('Hi'),
    answer('', { tool_calls: [call('a'), call('b')] }),
    result('b'),
    result('a'),
  ];
  t.strictSame(contentsOf({ messages }), [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [callPart('a'), callPart('b')] },
    { role: 'user', parts: [response('a'), response('b')] },
  ]);
});

t.test('sends no ids to Vertex AI', async (t) => {
  const messages = [userMessage('Hi'), answer('', { tool_calls: [call('a')] }), result('a')];
  t.strictSame(contentsOf({ messages }, {}, 'vertex'), [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ functionCall: { name: 'look', args: { q: 'a' } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'look', response: { name: 'look', content: 'found a' } } }],
    },
  ]);
});

t.test('adds a missing result, and converts a result without a call to text', async (t) => {
  const messages = [
    answer('', { tool_calls: [call('a'), call('b')] }),
    result('b'),
    result('c'),
    userMessage('next'),
    answer('', { tool_calls: [call('d')] }),
  ];
  t.strictSame(contentsOf({ messages }), [
    { role: 'user', parts: [{ text: '(empty message)' }] },
    { role: 'model', parts: [callPart('a'), callPart('b')] },
    {
      role: 'user',
      parts: [response('a', '[Tool execution was interrupted]'), response('b')],
    },
    { role: 'user', parts: [{ text: '[Result of c] found c' }] },
    { role: 'user', parts: [{ text: 'next' }] },
    { role: 'model', parts: [callPart('d')] },
    { role: 'user', parts: [response('d', '[Tool execution was interrupted]')] },
  ]);
});

t.test('joins consecutive completions into one content, because calls must follow a user', async (t) => {
  const messages = [
    userMessage('Hi'),
    answer('One'),
    answer('Two', { tool_calls: [call('a')] }),
    result('a'),
  ];
  t.strictSame(listOf(contentsOf({ messages }))[1], {
    role: 'model',
    parts: [{ text: 'One' }, { text: 'Two' }, callPart('a')],
  });
});

t.test('sends signatures back on their parts only', async (t) => {
  const reasoning_items = [
    item({ text: 0, calls: 0 }, { text: 'Hm.', thought: true, thoughtSignature: 't' }),
    item({ text: 0, calls: 0 }, { thoughtSignature: 'x', length: 5 }),
    item({ text: 9, calls: 0 }, { thoughtSignature: 'y', length: 0 }),
    item({ text: 9, calls: 0 }, { thoughtSignature: 'z' }),
  ];
  const messages = [
    userMessage('Hi'),
    answer('Hello all', { tool_calls: [call('a'), call('b')], metadata: { reasoning_items } }),
    result('a'),
    result('b'),
  ];
  t.strictSame(listOf(contentsOf({ messages }, { upstream: 'gemini-3-pro' }))[1], {
    role: 'model',
    parts: [
      { text: 'Hm.', thought: true, thoughtSignature: 't' },
      { text: 'Hello', thoughtSignature: 'x' },
      { text: ' all' },
      { text: '', thoughtSignature: 'y' },
      callPart('a', { thoughtSignature: 'z' }),
      callPart('b'),
    ],
  });
  const skip = { thoughtSignature: 'skip_thought_signature_validator' };
  t.strictSame(
    listOf(contentsOf({ messages }, { upstream: 'gemini-3.1-pro' }))[1],
    { role: 'model', parts: [{ text: 'Hello all' }, callPart('a', skip), callPart('b', skip)] },
    'another model receives the default signature',
  );
  t.strictSame(
    listOf(contentsOf({ messages }, { upstream: 'gemini-2.5-pro' }))[1],
    { role: 'model', parts: [{ text: 'Hello all' }, callPart('a'), callPart('b')] },
    'an older model receives no signature',
  );
});

t.test('does not split a surrogate pair at a signature', async (t) => {
  const reasoning_items = [item({ text: 0, calls: 0 }, { thoughtSignature: 'x', length: 2 })];
  const messages = [userMessage('Hi'), answer('a👋b', { metadata: { reasoning_items } })];
  t.strictSame(listOf(contentsOf({ messages }, { upstream: 'gemini-3-pro' }))[1], {
    role: 'model',
    parts: [{ text: 'a👋', thoughtSignature: 'x' }, { text: 'b' }],
  });
});

t.test('ignores items of other protocols', async (t) => {
  const reasoning_items = [
    item({ text: 0, calls: 0 }, { thoughtSignature: 7 }),
    item({ text: 2, calls: 0 }, {}),
  ];
  const messages = [userMessage('Hi'), answer('Hello', { metadata: { reasoning_items } })];
  const parts = objectOf(listOf(contentsOf({ messages }, { upstream: 'gemini-3-pro' }))[1])?.parts;
  t.strictSame(parts, [{ text: 'He' }, { text: 'llo' }]);
});

t.test('sends files of users and pictures of models', async (t) => {
  const file = (url: string) => ({ type: 'image' as const, source: { type: 'url' as const, url } });
  const inline = { type: 'base64' as const, media_type: 'image/png', data: 'AAAA' };
  const messages: Message[] = [
    {
      id: 'u',
      role: 'user',
      content: [
        file('https://a.example/b'),
        file('data:image/webp;base64,BBBB'),
        { type: 'document', source: { type: 'url', url: 'https://a.example/c' }, title: 'C' },
        { type: 'audio', source: { ...inline, media_type: 'audio/ogg' } },
      ],
    },
    { id: 'a', role: 'assistant', content: [{ type: 'image', source: inline }] },
  ];
  t.strictSame(contentsOf({ messages }, { upstream: 'gemini-2.5-flash-image' }), [
    {
      role: 'user',
      parts: [
        { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/b' } },
        { inlineData: { mimeType: 'image/webp', data: 'BBBB' } },
        { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/c' } },
        { inlineData: { mimeType: 'audio/ogg', data: 'AAAA' } },
      ],
    },
    { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
  ]);
  t.strictSame(listOf(contentsOf({ messages }, { upstream: 'gemini-3-pro-image' }))[1], {
    role: 'model',
    parts: [{ text: '[image image/png, 3 bytes]' }],
  });
});

t.test('continues a completion with the token of the last pause', async (t) => {
  const pauses = [{ continuationToken: 'a' }, { continuationToken: 'b' }];
  t.equal(encode({}, { pauses }).body.continuationToken, 'b');
  t.notOk('continuationToken' in encode({}).body);
});

const ANY: JsonObject[] = [
  ...['string', 'number', 'boolean', 'object'].map((type) => ({ type })),
  { type: 'array', items: { type: 'string' } },
];

const tool = (parameters: JsonObject): ToolDescriptor => ({
  id: 'look up',
  name: 'Look',
  description: 'Looks.',
  category: null,
  parameters,
});
const schemas: [name: string, given: JsonObject, sent: JsonObject | undefined][] = [
  ['no arguments', { type: 'object', properties: {} }, undefined],
  ['a schema that no provider accepts', { type: 'string' }, undefined],
  ['any arguments', { type: 'object', additionalProperties: true }, {}],
  [
    'keywords that the protocol does not have',
    {
      type: 'object',
      $schema: 'x',
      additionalProperties: false,
      properties: { n: { type: 'integer', minimum: 1, default: 2, title: 'N', description: 'Number.' } },
      required: ['n', 'gone'],
    },
    { properties: { n: { type: 'integer', description: 'Number.' } }, required: ['n'] },
  ],
  [
    'formats',
    {
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        mail: { type: 'string', format: 'email', minLength: 3 },
        n: { type: 'integer', format: 'int64' },
      },
    },
    {
      properties: {
        at: { type: 'string', format: 'date-time' },
        mail: { type: 'string', minLength: 3 },
        n: { type: 'integer', format: 'int64' },
      },
    },
  ],
  [
    'values to choose from',
    {
      type: 'object',
      properties: {
        a: { enum: ['x', 'y'] },
        b: { type: 'integer', enum: [1, 2] },
        c: { const: true },
        d: { type: 'string', enum: ['', 'x'] },
        e: { enum: ['x', null] },
        f: { enum: [null] },
        g: { enum: ['x', 1], description: 'Mixed.' },
      },
    },
    {
      properties: {
        a: { type: 'string', enum: ['x', 'y'] },
        b: { type: 'integer', format: 'enum', enum: ['1', '2'] },
        c: { type: 'boolean', format: 'enum', enum: ['true'] },
        d: { type: 'string' },
        e: { type: 'string', enum: ['x'], nullable: true },
        f: { type: 'null' },
        g: { description: 'Mixed.', anyOf: ANY },
      },
    },
  ],
  [
    'alternatives',
    {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'], description: 'A.' },
        b: { type: ['string', 'number', 'null'] },
        c: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
        d: {
          allOf: [
            { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
            { description: 'D.' },
          ],
        },
        e: { anyOf: [{ type: 'null' }] },
        f: { type: 'object', properties: { x: { type: 'string' } }, anyOf: [{ required: ['x'] }] },
      },
    },
    {
      properties: {
        a: { type: 'string', description: 'A.', nullable: true },
        b: { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true },
        c: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        d: { type: 'object', description: 'D.', properties: { x: { type: 'string' } }, required: ['x'] },
        e: { type: 'null' },
        f: { type: 'object', properties: { x: { type: 'string' } } },
      },
    },
  ],
  [
    'lists and values of any type',
    {
      type: 'object',
      properties: {
        a: { type: 'array' },
        b: { type: 'array', prefixItems: [{ type: 'string' }] },
        c: true,
        d: {},
      },
    },
    {
      properties: {
        a: { type: 'array', items: { anyOf: ANY } },
        b: { type: 'array', items: { anyOf: ANY } },
        c: { anyOf: ANY },
        d: { anyOf: ANY },
      },
    },
  ],
];
for (const [name, given, sent] of schemas) {
  t.test(`encodes a tool with ${name}`, async (t) => {
    const { tools } = encode({ tools: [tool(given)] }).body;
    const declaration = listOf(objectOf(listOf(tools)[0])?.functionDeclarations)[0];
    t.strictSame(declaration, {
      name: nameForModel('look up'),
      description: 'Looks.',
      ...(sent && { parameters: { type: 'object', ...sent } }),
    });
  });
}

t.test('accepts a data URL of any length in linear time', async (t) => {
  for (const mark of ['a', ';', ',']) {
    // Quadratic steps would take hours.
    const url = `data:${mark.repeat(50_000_000 / mark.length)}`;
    const image = { type: 'image' as const, source: { type: 'url' as const, url } };
    const request = requestOf('', { messages: [{ id: 'u', role: 'user', content: [image] }] });
    const { body } = geminiWire({ platform: 'gemini' }).encode(
      callOf({ upstream: 'gemini-2.5-pro', request }),
    );
    t.ok(JSON.stringify(body.contents).length > url.length / 2, mark);
  }
});
