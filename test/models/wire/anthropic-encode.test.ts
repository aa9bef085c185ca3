import t from 'tap';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import type { WireCall, WireRequest } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import { requestOf, userMessage } from '../infer.ts';
import { sentBySdk } from './anthropic-oracle.ts';
import { callOf } from './decode.ts';
import { refusalsOf } from './strict-anthropic.ts';

/** Requests of the Messages protocol. */

const BUDGETED = 'claude-sonnet-4-5';
const ADAPTIVE = 'claude-opus-4-7';
const BINDING = 'claude-opus-5-5';

const callFor = (
  upstream: string,
  request: Partial<InferenceRequest>,
  more: Partial<WireCall> = {},
): WireCall => callOf({ upstream, request: requestOf('Hi', request), ...more });

const encode = (call: WireCall): WireRequest => anthropicWire().encode(call);

const assistant = (text: string, more: Partial<Message> = {}): Message => ({
  id: `a-${text}`,
  role: 'assistant',
  content: text === '' ? [] : [{ type: 'text', text }],
  ...more,
});
const calling = (...ids: string[]): Partial<Message> => ({
  tool_calls: ids.map((id) => ({ id, name: 'get', arguments: { a: 1 } })),
});
const result = (id: string, text = 'fine'): Message => ({
  id: `t-${id}`,
  role: 'tool',
  tool_call_id: id,
  content: [{ type: 'text', text }],
});

type Placed = { item: JsonObject; text?: number; calls?: number };

const thinking = (...placed: Placed[]): Partial<Message> => ({
  metadata: {
    reasoning_items: placed.map(({ item, text = 0, calls = 0 }) => ({
      provider: 'p',
      model: BUDGETED,
      format: 'anthropic',
      after: { text, calls },
      item,
    })),
  },
});
const THOUGHT = { type: 'thinking', thinking: 'Hm', signature: 'sig' };
const HIDDEN = { type: 'redacted_thinking', data: 'secret' };

/** The same history for another model of the provider. */
const ofModel = (model: string, messages: Message[]): Message[] =>
  JSON.parse(JSON.stringify(messages).replaceAll(BUDGETED, model));

const loop = [
  userMessage('q'),
  assistant('', { ...calling('c1'), ...thinking({ item: THOUGHT }) }),
  result('c1'),
];

t.test('sends the path, the version and the required fields', async (t) => {
  const { path, headers, body } = encode(callFor(BUDGETED, { system: ['Be brief.'] }));
  t.equal(path, 'messages');
  t.strictSame(headers, { 'anthropic-version': '2023-06-01' });
  t.strictSame(body, {
    model: BUDGETED,
    max_tokens: 64_000,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    stream: true,
  });
});

const tokens: [upstream: string, overrides: InferenceRequest['overrides'], sent: object][] = [
  ['up', {}, { max_tokens: 4096 }],
  ['claude-opus-4-1', {}, { max_tokens: 32_000 }],
  ['claude-3-haiku-20240307', { max_tokens: 9000 }, { max_tokens: 4096 }],
  ['up', { max_tokens: 9 }, { max_tokens: 9 }],
  ['up', { max_tokens: 9, reasoning_effort: 'low' }, { max_tokens: 1033, thinking: { budget_tokens: 1024 } }],
  ['up', { reasoning_effort: { budget: 5 } }, { max_tokens: 5120, thinking: { budget_tokens: 1024 } }],
  [
    'claude-opus-4-1',
    { reasoning_effort: 'max' },
    { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 24_000 } },
  ],
  [
    BUDGETED,
    { max_tokens: 100, reasoning_effort: { budget: 1e9 } },
    { max_tokens: 64_000, thinking: { budget_tokens: 48_000 } },
  ],
  [
    ADAPTIVE,
    { max_tokens: 100, reasoning_effort: 'max' },
    {
      max_tokens: 100,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'max' },
    },
  ],
  [BUDGETED, { reasoning_effort: 'none' }, { thinking: { type: 'disabled' }, output_config: undefined }],
  [BINDING, { reasoning_effort: 'none' }, { thinking: undefined, output_config: undefined }],
  ['claude-sonnet-5-5', { reasoning_effort: { budget: 0 } }, { thinking: { type: 'between_tools' } }],
];
for (const [upstream, overrides, sent] of tokens) {
  t.test(`${upstream} receives ${JSON.stringify(sent)} for ${JSON.stringify(overrides)}`, async (t) => {
    const request = encode(callFor(upstream, { overrides }));
    t.match(request.body, sent);
    t.strictSame(refusalsOf(request), []);
  });
}

const sampling: [upstream: string, overrides: InferenceRequest['overrides'], sent: object][] = [
  [BUDGETED, { temperature: 2, top_p: 0.5 }, { temperature: 1, top_p: undefined }],
  [BUDGETED, { top_p: 0.5 }, { temperature: undefined, top_p: 0.5 }],
  ['up', { temperature: -1, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
  [ADAPTIVE, { temperature: 0.5, top_p: 0.5 }, { temperature: undefined, top_p: undefined }],
  [
    BUDGETED,
    { temperature: 0.5, top_p: 0.5, reasoning_effort: 'low' },
    { temperature: undefined, top_p: undefined },
  ],
  [BUDGETED, { temperature: 0.5, reasoning_effort: 'none' }, { temperature: 0.5 }],
];
for (const [upstream, overrides, sent] of sampling) {
  t.test(`${upstream} samples with ${JSON.stringify(overrides)}`, async (t) => {
    t.match(encode(callFor(upstream, { overrides })).body, sent);
  });
}

/** The block types of the messages, and the requested thinking. */
const shapeOf = (call: WireCall): { thinking: unknown; messages: string[] } => {
  const request = encode(call);
  t.strictSame(refusalsOf(request), []);
  const { messages, thinking } = request.body;
  const list = messages as { role: string; content: { type: string }[] }[];
  return {
    thinking: (thinking as JsonObject | undefined)?.type,
    messages: list.map(({ role, content }) => `${role}: ${content.map(({ type }) => type).join(' ')}`),
  };
};

const LOOP = ['user: text', 'assistant: thinking tool_use', 'user: tool_result'];
const PLAIN_LOOP = ['user: text', 'assistant: tool_use', 'user: tool_result'];

const turns: [name: string, upstream: string, request: Partial<InferenceRequest>, expected: object][] = [
  [
    'thinking of the current turn is sent',
    BUDGETED,
    { messages: loop, overrides: { reasoning_effort: 'low' } },
    { thinking: 'enabled', messages: LOOP },
  ],
  [
    'thinking is not sent to a model that is not asked to think',
    BUDGETED,
    { messages: loop },
    { thinking: undefined, messages: PLAIN_LOOP },
  ],
  [
    'thinking is not sent when thinking is disabled',
    BUDGETED,
    { messages: loop, overrides: { reasoning_effort: 'none' } },
    { thinking: 'disabled', messages: PLAIN_LOOP },
  ],
  [
    'a model that thinks without being asked is sent its thinking',
    'deepseek-v4',
    { messages: ofModel('deepseek-v4', loop) },
    { thinking: undefined, messages: LOOP },
  ],
  [
    'a turn that began without thinking goes without it to its end',
    BUDGETED,
    {
      messages: [...loop, assistant('so'), userMessage('and'), assistant('', calling('c2')), result('c2')],
      overrides: { reasoning_effort: 'low' },
    },
    {
      thinking: undefined,
      messages: [...PLAIN_LOOP, 'assistant: text', 'user: text', 'assistant: tool_use', 'user: tool_result'],
    },
  ],
  [
    'the next turn thinks again, with the thinking of earlier turns',
    BUDGETED,
    {
      messages: [...loop, assistant('so'), userMessage('and'), assistant('ok'), userMessage('then')],
      overrides: { reasoning_effort: 'low' },
    },
    {
      thinking: 'enabled',
      messages: [...LOOP, 'assistant: text', 'user: text', 'assistant: text', 'user: text'],
    },
  ],
  [
    'a model that does not think between calls has thought at the beginning of its turn',
    BUDGETED,
    {
      messages: [...loop, assistant('', calling('c2')), result('c2')],
      overrides: { reasoning_effort: 'low' },
    },
    { thinking: 'enabled', messages: [...LOOP, 'assistant: tool_use', 'user: tool_result'] },
  ],
  [
    'text behind results may begin a turn',
    BUDGETED,
    {
      messages: [...loop, userMessage('note'), assistant('', calling('c2')), result('c2')],
      overrides: { reasoning_effort: 'low' },
    },
    {
      thinking: undefined,
      messages: [
        'user: text',
        'assistant: tool_use',
        'user: tool_result text',
        'assistant: tool_use',
        'user: tool_result',
      ],
    },
  ],
  [
    'an adaptive model accepts a turn without thinking',
    ADAPTIVE,
    {
      messages: [userMessage('q'), assistant('', calling('c1')), result('c1')],
      overrides: { reasoning_effort: 'low' },
    },
    { thinking: 'adaptive', messages: PLAIN_LOOP },
  ],
  [
    'thinking stands where it stood, and not at the end',
    BUDGETED,
    {
      messages: [
        userMessage('q'),
        assistant('before after', {
          ...calling('c1'),
          ...thinking({ item: THOUGHT }, { item: HIDDEN, text: 6 }, { item: THOUGHT, text: 12, calls: 1 }),
        }),
        result('c1'),
      ],
      overrides: { reasoning_effort: 'low' },
    },
    {
      thinking: 'enabled',
      messages: [
        'user: text',
        'assistant: thinking text redacted_thinking text tool_use',
        'user: tool_result',
      ],
    },
  ],
  [
    'an answer that is continued with thinking does not end with a beginning',
    BUDGETED,
    {
      messages: [userMessage('q'), assistant('Hal', thinking({ item: THOUGHT }))],
      overrides: { reasoning_effort: 'low' },
    },
    { thinking: 'enabled', messages: ['user: text', 'assistant: thinking text', 'user: text'] },
  ],
  [
    'an answer that has begun is continued',
    BUDGETED,
    { messages: [userMessage('q'), assistant('Hal \n')] },
    { thinking: undefined, messages: ['user: text', 'assistant: text'] },
  ],
  [
    'a newer model refuses an answer that has begun',
    ADAPTIVE,
    { messages: [userMessage('q'), assistant('Hal')] },
    { thinking: undefined, messages: ['user: text', 'assistant: text', 'user: text'] },
  ],
];
for (const [name, upstream, request, expected] of turns) {
  t.test(name, async (t) => {
    t.strictSame(shapeOf(callFor(upstream, request)), expected);
  });
}

t.test('allows a model that binds its thinking to drop mismatched blocks', async (t) => {
  for (const overrides of [
    {},
    { reasoning_effort: 'high' as const },
    { reasoning_effort: 'none' as const },
  ]) {
    const request = encode(callFor(BINDING, { messages: ofModel(BINDING, loop), overrides }));
    t.match(request, {
      headers: { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' },
      body: { thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } },
    });
    t.strictSame(refusalsOf(request), []);
  }
  const plain = encode(callFor(BINDING, { overrides: { reasoning_effort: 'high' } }));
  t.notOk('anthropic-beta' in plain.headers);
  t.notMatch(JSON.stringify(plain.body), /block_binding/);
});

t.test('continues a pause with the content that the service wrote', async (t) => {
  const content: JsonObject[] = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'text', text: 'So far' },
  ];
  const more = [{ type: 'text', text: 'and on' }];
  const { body } = encode(
    callFor(ADAPTIVE, {}, { pauses: [{ content }, { content: more }, { content: null }] }),
  );
  t.strictSame(body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [...content, ...more] },
  ]);
});

const block = (content: ContentBlock): WireCall =>
  callOf({ request: requestOf('', { messages: [{ id: 'u', role: 'user', content: [content] }] }) });
const base64 = (
  type: 'image' | 'document',
  media_type: string,
  text = 'AAAA',
  title?: string,
): ContentBlock => ({
  type,
  source: { type: 'base64', media_type, data: Buffer.from(text).toString('base64') },
  ...(title !== undefined && { title }),
});
const link = (type: 'image' | 'document'): ContentBlock => ({
  type,
  source: { type: 'url', url: 'https://a.example/x' },
});

const files: [content: ContentBlock, sent: object][] = [
  [
    base64('image', 'image/png'),
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUFBQQ==' } },
  ],
  [base64('image', 'IMAGE/JPG'), { source: { media_type: 'image/jpeg' } }],
  [link('image'), { type: 'image', source: { type: 'url', url: 'https://a.example/x' } }],
  [
    base64('document', 'application/pdf', 'AAAA', 'Spec'),
    { type: 'document', title: 'Spec', source: { type: 'base64', media_type: 'application/pdf' } },
  ],
  [base64('document', 'application/pdf', 'AAAA', 'x'.repeat(501)), { title: 'x'.repeat(500) }],
  [base64('document', 'application/pdf', 'AAAA', ' '), { title: undefined }],
  [link('document'), { type: 'document', source: { type: 'url', url: 'https://a.example/x' } }],
  [
    base64('document', 'text/plain; charset=utf-8', 'Grüße', 'a.txt'),
    { type: 'document', title: 'a.txt', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
  ],
  [
    base64('document', 'text/markdown', '# A'),
    { source: { type: 'text', media_type: 'text/plain', data: '# A' } },
  ],
  [base64('document', 'text/plain', ' \n', 'a.txt'), { type: 'text', text: '(empty file a.txt)' }],
];
for (const [content, sent] of files) {
  t.test(`sends a file as ${JSON.stringify(sent).slice(0, 100)}`, async (t) => {
    const request = encode(block(content));
    t.match(request.body.messages, [{ content: [sent] }]);
    t.strictSame(refusalsOf(request), []);
  });
}

t.test('rejects a file without a block in the protocol', async (t) => {
  const audio: ContentBlock = {
    type: 'audio',
    source: { type: 'base64', media_type: 'audio/ogg', data: 'AAAA' },
  };
  for (const [content, message] of [
    [audio, 'invalid request: media type: audio/ogg not supported by this provider'],
    [
      base64('document', 'application/zip'),
      'invalid request: media type: application/zip not supported by this provider',
    ],
  ] as const) {
    t.throws(() => encode(block(content)), { message });
  }
});

t.test('marks the system prompt and the stable messages for the cache', async (t) => {
  const kept = { cache_control: { type: 'ephemeral' } };
  const { body } = encode(
    callFor(BUDGETED, {
      system: ['Prompt.', 'Today.'],
      messages: [...loop, userMessage('new')],
      overrides: { reasoning_effort: 'low' },
      cache: { stable_messages: 3 },
    }),
  );
  t.match(body.system, [{ text: 'Prompt.', ...kept }, { text: 'Today.' }]);
  t.match(body.messages, [{}, {}, { content: [{ type: 'tool_result', ...kept }, { text: 'new' }] }]);
  t.equal(JSON.stringify(body).split('ephemeral').length, 3);
});

t.test('sets no cache mark on thinking', async (t) => {
  const messages = [
    userMessage('q'),
    assistant('text', thinking({ item: THOUGHT, text: 4 })),
    userMessage('new'),
  ];
  const request = encode(
    callFor(BUDGETED, { messages, overrides: { reasoning_effort: 'low' }, cache: { stable_messages: 2 } }),
  );
  t.match(request.body.messages, [{}, { content: [{ type: 'text', cache_control: { type: 'ephemeral' } }] }]);
  t.strictSame(refusalsOf(request), []);
});

/** Differences between the requests of Troupe and of the package. */
const differences: [why: string, request: Partial<InferenceRequest>, theirs: object, ours: object][] = [
  [
    'A blank result has no content, because the service refuses blank text.',
    { messages: [userMessage('q'), assistant('', calling('c1')), result('c1', ' ')] },
    [{}, {}, { content: [{ tool_use_id: 'c1', content: ' ' }] }],
    [{}, {}, { content: [{ tool_use_id: 'c1', content: undefined }] }],
  ],
  [
    'Results come first; the service refuses them behind text.',
    { messages: [userMessage('q'), assistant('', calling('c1')), userMessage('note'), result('c1')] },
    [{}, {}, { content: [{ type: 'text' }, { type: 'tool_result' }] }],
    [{}, {}, { content: [{ type: 'tool_result' }, { type: 'text' }] }],
  ],
  [
    'Each call has a result.',
    { messages: [userMessage('q'), assistant('', calling('c1', 'c2')), result('c1')] },
    [{}, {}, { content: [{ tool_use_id: 'c1' }] }],
    [
      {},
      {},
      {
        content: [{ tool_use_id: 'c1' }, { tool_use_id: 'c2', content: '[Tool execution was interrupted]' }],
      },
    ],
  ],
  [
    'A call without a result at the end has one, too.',
    { messages: [userMessage('q'), assistant('', calling('c1'))] },
    [{}, { role: 'assistant' }],
    [{}, {}, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] }],
  ],
  [
    'A result without a call is text.',
    { messages: [userMessage('q'), result('c1', 'late')] },
    [{ content: [{}, { type: 'tool_result' }] }],
    [{ content: [{ text: 'q' }, { type: 'text', text: '[Result of c1] late' }] }],
  ],
  [
    'An id that comes again in another answer is made unique, and its result follows it.',
    {
      messages: [
        userMessage('q'),
        assistant('', calling('c1')),
        result('c1', 'one'),
        assistant('', calling('c1')),
        result('c1', 'two'),
      ],
    },
    [{}, {}, {}, { content: [{ id: 'c1' }] }, { content: [{ tool_use_id: 'c1' }] }],
    [{}, {}, {}, { content: [{ id: 'c1_2' }] }, { content: [{ tool_use_id: 'c1_2', content: 'two' }] }],
  ],
  [
    'A call that exists as a block and as a call is sent once.',
    {
      messages: [
        userMessage('q'),
        {
          ...assistant('', calling('c1')),
          content: [{ type: 'tool_use', id: 'c1', name: 'get', input: { a: 1 } }],
        },
        result('c1'),
      ],
    },
    [{}, { content: { length: 2 } }],
    [{}, { content: { length: 1 } }],
  ],
  [
    'The first message is that of a user.',
    { messages: [assistant('Hello'), userMessage('q')] },
    [{ role: 'assistant' }],
    [{ role: 'user' }, { role: 'assistant' }],
  ],
  ['There is a message.', { messages: [] }, { length: 0 }, { length: 1 }],
];
for (const [why, request, theirs, ours] of differences) {
  t.test(why, async (t) => {
    const call = callFor(BUDGETED, request);
    t.match(((await sentBySdk(call)) as JsonObject).messages, theirs);
    const written = encode(call);
    t.match(written.body.messages, ours);
    t.strictSame(refusalsOf(written), []);
  });
}

t.test('sends tools by name, with a description if they have one', async (t) => {
  const parameters = { type: 'object', properties: { q: { type: 'string' } } };
  const tool = { name: 'Search', category: null, parameters };
  const { body } = encode(
    callFor(BUDGETED, {
      tools: [
        { ...tool, id: 'search', description: 'Finds.' },
        { ...tool, id: 'a b', description: ' ', parameters: { type: 'string' } },
      ],
    }),
  );
  t.match(body.tools, [
    { name: 'search', description: 'Finds.', input_schema: parameters, eager_input_streaming: true },
    { name: /^a_b_/, description: undefined, input_schema: { type: 'object', properties: {} } },
  ]);
});
