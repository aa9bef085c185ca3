import assert from 'node:assert/strict';
import t from 'tap';
import { createAnswer } from '../../../src/models/answer.ts';
import type { InferenceRequest, ToolChoice } from '../../../src/models/model.ts';
import { bedrockWire } from '../../../src/models/wire/bedrock.ts';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { image, imageAt, PNG } from '../images.ts';
import { type Heard, recordingSink, requestOf, userMessage } from '../infer.ts';
import { callOf, decode, type Sent } from './decode.ts';
import { requests } from './histories.ts';
import { problemsOfConverse } from './strict-bedrock.ts';

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS || 500);

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const MODELS = [
  CLAUDE,
  'eu.anthropic.claude-opus-5-v1',
  'anthropic.claude-3-haiku-20240307-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'amazon.nova-pro-v1:0',
  'openai.gpt-oss-120b-1:0',
  'mistral.mistral-large-3-675b-instruct',
  'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc',
];

const bodyOf = (request: InferenceRequest, upstream = CLAUDE): JsonObject =>
  JSON.parse(JSON.stringify(bedrockWire().encode(callOf({ request, upstream })).body));

t.test('sends only what a strict service accepts', async () => {
  fc.assert(
    fc.property(requests, fc.constantFrom(...MODELS), (request, upstream) => {
      assert.deepEqual(problemsOfConverse(upstream, bodyOf(request, upstream)), []);
    }),
    { numRuns: RUNS },
  );
});

t.test('puts the whole model name into the path', async (t) => {
  const path = (upstream: string): string => bedrockWire().encode(callOf({ upstream })).path;
  t.equal(path(CLAUDE), 'model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream');
  t.equal(
    path('arn:aws:bedrock:us-east-1:1:inference-profile/a'),
    'model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fa/converse-stream',
  );
  t.equal(path('../../x'), 'model/..%2F..%2Fx/converse-stream');
});

const TOOL = {
  id: 'get',
  name: 'Get',
  description: 'Gets.',
  category: null,
  parameters: { type: 'object', properties: {} },
};
const CALLED: Message[] = [
  userMessage('Hi'),
  {
    id: 'a',
    role: 'assistant',
    content: [{ type: 'text', text: 'Let me see' }],
    tool_calls: [{ id: 'c1', name: 'get', arguments: { q: 1 } }],
    metadata: {
      reasoning_items: [
        {
          provider: 'p',
          model: CLAUDE,
          format: 'bedrock',
          item: { type: 'thinking', thinking: 'Hm', signature: 'sig' },
          after: { text: 0, calls: 0 },
        },
        {
          provider: 'p',
          model: CLAUDE,
          format: 'bedrock',
          item: { type: 'redacted_thinking', data: 'cmVk' },
          after: { text: 0, calls: 0 },
        },
      ],
    },
  },
  { id: 't', role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '42' }] },
];

t.test('sends reasoning with its signature, calls, results and cache points', async (t) => {
  const body = bodyOf(
    requestOf('', {
      system: ['Be brief'],
      messages: CALLED,
      tools: [TOOL],
      overrides: { reasoning_effort: 'low', max_tokens: 100 },
      cache: { stable_messages: 3 },
    }),
  );
  t.strictSame(body, {
    messages: [
      { role: 'user', content: [{ text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
          { reasoningContent: { redactedContent: 'cmVk' } },
          { text: 'Let me see' },
          { toolUse: { toolUseId: 'c1', name: 'get', input: { q: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: '42' }] } },
          { cachePoint: { type: 'default' } },
        ],
      },
    ],
    system: [{ text: 'Be brief' }, { cachePoint: { type: 'default' } }],
    inferenceConfig: { maxTokens: 1124 },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'get',
            description: 'Gets.',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
      ],
    },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
  });
});

t.test('writes calls and results as text for a request without tools', async (t) => {
  const { messages, toolConfig } = bodyOf(requestOf('', { messages: CALLED }));
  t.equal(toolConfig, undefined);
  t.match(messages, [
    {},
    { content: [{ text: 'Let me see' }, { text: '[Call of get] {"q":1}' }] },
    { content: [{ text: '[Result] 42' }] },
  ]);
});

const choices: [given: ToolChoice, sent: object | undefined][] = [
  ['auto', { auto: {} }],
  ['required', { any: {} }],
  [{ tool: 'get' }, { tool: { name: 'get' } }],
  [{ tool: 'other' }, undefined],
];
for (const [toolChoice, sent] of choices) {
  t.test(`sends the choice ${JSON.stringify(toolChoice)} as ${JSON.stringify(sent)}`, async (t) => {
    const { toolConfig } = bodyOf(requestOf('', { messages: CALLED, tools: [TOOL], toolChoice }));
    t.strictSame((toolConfig as JsonObject).toolChoice, sent);
  });
}

const othersChoices: [upstream: string, given: ToolChoice, sent: object | undefined][] = [
  ['us.amazon.nova-pro-v1:0', { tool: 'get' }, { tool: { name: 'get' } }],
  ['mistral.mistral-large-2407-v1:0', 'required', { any: {} }],
  ['mistral.mistral-large-2407-v1:0', { tool: 'get' }, undefined],
  ['meta.llama3-3-70b-instruct-v1:0', { tool: 'get' }, undefined],
  ['meta.llama3-3-70b-instruct-v1:0', 'required', undefined],
];
for (const [upstream, toolChoice, sent] of othersChoices) {
  const given = JSON.stringify(toolChoice);
  t.test(`sends the choice ${given} to ${upstream} as ${JSON.stringify(sent)}`, async (t) => {
    const tools = [TOOL, { ...TOOL, id: 'put', name: 'put' }];
    const { toolConfig } = bodyOf(requestOf('', { messages: CALLED, tools, toolChoice }), upstream);
    const { tools: offered, toolChoice: choice } = toolConfig as { tools: Json[]; toolChoice?: Json };
    t.strictSame(choice, sent);
    t.equal(offered.length, typeof toolChoice === 'string' || sent ? 2 : 1);
  });
}

t.test('sends Claude the effort of its thinking', async (t) => {
  const body = bodyOf(
    requestOf('Hi', { overrides: { reasoning_effort: 'high' } }),
    'anthropic.claude-opus-4-7',
  );
  t.match(body.additionalModelRequestFields, {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  });
});

t.test('offers no tools if calls are forbidden, and sends stop sequences and the tier', async (t) => {
  const overrides = { stop: ['END'], service_tier: 'flex' };
  const body = bodyOf(requestOf('', { messages: CALLED, tools: [TOOL], toolChoice: 'none', overrides }));
  t.notOk('toolConfig' in body);
  t.strictSame(problemsOfConverse(CLAUDE, body), []);
  t.match(body, { inferenceConfig: { stopSequences: ['END'] }, serviceTier: { type: 'flex' } });
});

const efforts: [upstream: string, fields: object | undefined][] = [
  ['us.amazon.nova-2-lite-v1:0', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }],
  ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'high' }],
  ['meta.llama4-scout-17b-instruct-v1:0', undefined],
];
for (const [upstream, fields] of efforts) {
  t.test(`sends an effort of max to ${upstream} as ${JSON.stringify(fields)}`, async (t) => {
    const body = bodyOf(requestOf('Hi', { overrides: { reasoning_effort: 'max' } }), upstream);
    t.strictSame(body.additionalModelRequestFields, fields);
  });
}

const files: [block: ContentBlock, sent: object | string][] = [
  [
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
    { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
  ],
  [
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      title: 'a_b.pdf',
    },
    { document: { format: 'pdf', name: 'a b 1', source: { bytes: 'AAAA' } } },
  ],
  [
    { type: 'image', source: { type: 'url', url: 'https://a.example/x.png' } },
    'image file parts with URLs not supported by this provider',
  ],
  [
    { type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } },
    'file part media type image/tiff not supported by this provider',
  ],
];
for (const [block, sent] of files) {
  t.test(`sends a file as ${JSON.stringify(sent)}`, async (t) => {
    const request = requestOf('', { messages: [{ id: 'u', role: 'user', content: [block] }] });
    if (typeof sent === 'string') {
      t.throws(() => bodyOf(request), { message: `invalid request: ${sent}` });
    } else t.match(bodyOf(request).messages, [{ content: [sent] }]);
  });
}

t.test('describes an unsupported file once a completion followed it', async (t) => {
  for (const [block, words] of [
    [imageAt('https://a.example/x.png'), '[image https://a.example/x.png, image/png]'],
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } },
      '[image image/tiff',
    ],
  ] as const) {
    const messages: Message[] = [
      { id: 'u', role: 'user', content: [block] },
      { id: 'a', role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] },
      userMessage('And now?'),
    ];
    const body = bodyOf(requestOf('', { messages }));
    t.strictSame(problemsOfConverse(CLAUDE, body), []);
    t.ok(JSON.stringify(body.messages).includes(words), JSON.stringify(body.messages));
  }
});

t.test('sends files of results even in a request without tools', async (t) => {
  const messages = [...CALLED.slice(0, -1), { ...(CALLED.at(-1) as Message), content: [image()] }];
  const accepts = ['text', 'image'] as const;
  const sent = { image: { format: 'png', source: { bytes: PNG } } };
  const withTools = bodyOf(requestOf('', { messages, tools: [TOOL], accepts: [...accepts] }));
  t.match((withTools.messages as Json[])[2], { content: [{ toolResult: { content: [sent] } }] });
  const without = bodyOf(requestOf('', { messages, accepts: [...accepts] }));
  t.strictSame((without.messages as Json[])[2], { role: 'user', content: [{ text: '[Result]' }, sent] });
});

const delta = (contentBlockIndex: number, given: JsonObject): Sent => [
  'contentBlockDelta',
  JSON.stringify({ contentBlockIndex, delta: given }),
];
const stopped = (contentBlockIndex: number): Sent => [
  'contentBlockStop',
  JSON.stringify({ contentBlockIndex }),
];
const called = (contentBlockIndex: number, toolUseId: string): Sent => [
  'contentBlockStart',
  JSON.stringify({ contentBlockIndex, start: { toolUse: { toolUseId, name: 'get' } } }),
];
const ended = (stopReason: string): Sent => ['messageStop', JSON.stringify({ stopReason })];
const USAGE: Sent = [
  'metadata',
  JSON.stringify({
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 27,
      cacheReadInputTokens: 8,
      cacheWriteInputTokens: 4,
    },
    metrics: { latencyMs: 1 },
  }),
];

t.test('reads reasoning, text and two calls that are interleaved', async (t) => {
  const { heard, items, end } = decode(bedrockWire(), [
    ['messageStart', '{"role":"assistant"}'],
    delta(0, { reasoningContent: { text: 'Hm' } }),
    delta(0, { reasoningContent: { signature: 'sig' } }),
    stopped(0),
    delta(1, { reasoningContent: { redactedContent: 'cmVk' } }),
    stopped(1),
    delta(2, { text: 'Hi' }),
    stopped(2),
    called(3, 'c1'),
    called(4, 'c2'),
    delta(3, { toolUse: { input: '{"q"' } }),
    delta(4, { toolUse: { input: '{}' } }),
    delta(3, { toolUse: { input: ':1}' } }),
    stopped(3),
    stopped(4),
    ['somethingNew', '{"contentBlockIndex":9}'],
    ended('tool_use'),
    USAGE,
    delta(5, { text: 'not read' }),
  ]);
  t.strictSame(heard, [
    ['reasoning', 'Hm'],
    ['encrypted', 'sig'],
    ['encrypted', 'cmVk'],
    ['text', 'Hi'],
    ['start', 'c1', 'get'],
    ['start', 'c2', 'get'],
    ['delta', 'c1', '{"q"'],
    ['delta', 'c2', '{}'],
    ['delta', 'c1', ':1}'],
    ['end', 'c1', '{"q":1}'],
    ['end', 'c2', '{}'],
  ]);
  t.strictSame(items, [
    { type: 'thinking', thinking: 'Hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'cmVk' },
  ]);
  t.strictSame(end, {
    stop: 'ToolUse',
    usage: {
      prompt_tokens: 22,
      completion_tokens: 5,
      total_tokens: 27,
      cache_read_tokens: 8,
      cache_creation_tokens: 4,
    },
  });
});

const ends: [stopReason: string, stop: string][] = [
  ['end_turn', 'EndTurn'],
  ['max_tokens', 'MaxTokens'],
  ['model_context_window_exceeded', 'MaxTokens'],
  ['stop_sequence', 'StopSequence'],
  ['something_new', 'EndTurn'],
];
for (const [stopReason, stop] of ends) {
  t.test(`ends with ${stop} after ${stopReason}`, async (t) => {
    const { end } = decode(bedrockWire(), [delta(0, { text: 'Hi' }), ended(stopReason), USAGE]);
    t.equal(end?.stop, stop);
  });
}

const failures: [sent: Sent, error: { class: string; transient?: boolean; message?: RegExp }][] = [
  [ended('guardrail_intervened'), { class: 'content_filtered', message: /guardrail_intervened/ }],
  [ended('content_filtered'), { class: 'content_filtered' }],
  [ended('malformed_tool_use'), { class: 'provider', message: /malformed_tool_use/ }],
  [['exception:throttlingException', '{"message":"Too many tokens, slow down"}'], { class: 'rate_limited' }],
  [['exception:modelNotReadyException', '{"message":"loading"}'], { class: 'overloaded' }],
  [['exception:serviceUnavailableException', '{"message":"busy"}'], { class: 'overloaded' }],
  [['exception:modelTimeoutException', '{"message":"late"}'], { class: 'timeout' }],
  [['exception:modelStreamErrorException', '{"message":"oops"}'], { class: 'provider', transient: true }],
  [['exception:internalServerException', ''], { class: 'provider', message: /internalServerException/ }],
  [['exception:validationException', '{"message":"bad field"}'], { class: 'invalid_request' }],
  [
    ['exception:validationException', '{"message":"Input is too long for requested model."}'],
    { class: 'context_overflow' },
  ],
  [['exception:accessDeniedException', '{"message":"no"}'], { class: 'unauthorized', transient: false }],
  [['error', '{"message":"InternalError"}'], { class: 'provider' }],
];
for (const [sent, error] of failures) {
  t.test(`reports ${sent.join(' ')} as ${error.class}`, async (t) => {
    t.match(decode(bedrockWire(), [sent]).error, error);
  });
}

t.test(
  'reports an exception after text as an interrupted stream, and ignores one after the end',
  async (t) => {
    const exception: Sent = ['exception:throttlingException', '{"message":"slow"}'];
    const broken = decode(bedrockWire(), [delta(0, { text: 'Hi' }), exception]);
    t.match(broken.error, { class: 'stream_interrupted', message: /provider 429 mid-stream/ });
    const whole = decode(bedrockWire(), [delta(0, { text: 'Hi' }), ended('end_turn'), exception]);
    t.equal(whole.end?.stop, 'EndTurn');
  },
);

t.test('reads a whole response in place of a stream', async (t) => {
  const heard: Heard[] = [];
  const wire = bedrockWire();
  const answer = createAnswer(recordingSink(heard), { provider: 'p', model: 'm', format: wire.format });
  const decoder = wire.decoder(answer);
  t.ok(
    decoder.whole({
      output: {
        message: {
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 's' } } },
            { text: 'Hi' },
            { toolUse: { toolUseId: 'c', name: 'get', input: { q: 1 } } },
          ],
        },
      },
      stopReason: 'tool_use',
    }),
  );
  t.equal(answer.end(decoder.end()).stop, 'ToolUse');
  t.strictSame(heard, [
    ['reasoning', 'Hm'],
    ['encrypted', 's'],
    ['text', 'Hi'],
    ['start', 'c', 'get'],
    ['delta', 'c', '{"q":1}'],
    ['end', 'c', '{"q":1}'],
  ]);
  t.notOk(decoder.whole({ message: 'an error' }));
});

t.test('throws nothing but provider errors for arbitrary events', async () => {
  const event = fc.oneof(
    fc.constantFrom<Sent>(
      delta(0, { text: 'a' }),
      delta(1, { reasoningContent: { text: 'b' } }),
      called(2, 'c'),
      delta(2, { toolUse: { input: '{' } }),
      stopped(0),
      ended('end_turn'),
      USAGE,
    ),
    fc.tuple(
      fc.constantFrom(
        'contentBlockDelta',
        'contentBlockStart',
        'contentBlockStop',
        'messageStop',
        'metadata',
        'x',
      ),
      fc.json(),
    ),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => void decode(bedrockWire(), events)),
    { numRuns: RUNS },
  );
});

t.test('names a document with a title of any length in linear time', async (t) => {
  const source = { type: 'base64' as const, media_type: 'application/pdf', data: 'AAAA' };
  for (const mark of ['_', '.abcde', `a${'_'.repeat(999)}`]) {
    // Quadratic steps would take hours.
    const title = mark.repeat(50_000_000 / mark.length);
    const block: ContentBlock = { type: 'document', source, title };
    const request = requestOf('', { messages: [{ id: 'u', role: 'user', content: [block] }] });
    const name = /^(document|[a-e]+( [a-e]+)*) 1$/;
    t.match(bodyOf(request).messages, [{ content: [{ document: { name } }] }], mark);
  }
});
