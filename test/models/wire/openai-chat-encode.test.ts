import { isDeepStrictEqual } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import t from 'tap';
import {
  type ChatOptions,
  COMPATIBLE_CHAT,
  DEEPSEEK_CHAT,
  FOREIGN_CHAT,
  OPENAI_CHAT,
} from '../../../src/models/chat-options.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { wireEffort } from '../../../src/models/settings/efforts.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message, ReasoningItem } from '../../../src/schema/message.ts';
import { nameForModel } from '../../../src/schema/model-tool.ts';
import fc, { anyText } from '../../random.ts';
import { requestOf, userMessage } from '../infer.ts';
import { callOf } from './decode.ts';
import { toPrompt } from './package-prompt.ts';
import { problemsOfChat, type StrictRules } from './strict-openai-chat.ts';

/** Requests of Chat Completions, compared with the packages of the AI SDK and checked by a strict service. */

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 2000) / 4;

/** The body as the service receives it. */
const bodyOf = (options: ChatOptions, request: InferenceRequest, more: object = {}): JsonObject =>
  JSON.parse(JSON.stringify(openaiChatWire(options).encode(callOf({ request, ...more })).body));

const messagesOf = (options: ChatOptions, messages: Message[], more: object = {}): unknown =>
  bodyOf(options, requestOf('', { messages }), more).messages;

/* Comparison with the packages */

const word = anyText({ minLength: 1, maxLength: 8 }).map((text) => `a${text}`);
const textBlock = word.map((text): ContentBlock => ({ type: 'text', text }));
const mediaBlock = fc.constantFrom<ContentBlock>(
  { type: 'image', source: { type: 'url', url: 'https://a.example/x.png?y=1' } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  { type: 'audio', source: { type: 'base64', media_type: 'audio/wav', data: 'AAAA' } },
  { type: 'audio', source: { type: 'base64', media_type: 'audio/mpeg', data: 'AAAA' } },
  {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    title: 'a.pdf',
  },
);
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const call = fc.record({ name: fc.constantFrom('search', 'get_weather', 'Ab_9-'), input });

type Turn = {
  user: ContentBlock[];
  text: ContentBlock[];
  calls: { name: string; input: unknown }[];
  result: string;
  system?: string | undefined;
};
const turn: fc.Arbitrary<Turn> = fc.record({
  user: fc.array(fc.oneof(textBlock, mediaBlock), { minLength: 1, maxLength: 3 }),
  text: fc.array(textBlock, { minLength: 1, maxLength: 2 }),
  calls: fc.array(call, { maxLength: 3 }),
  result: anyText({ maxLength: 8 }),
  system: fc.option(word, { nil: undefined }),
});

const historyOf = (turns: readonly Turn[], idOf: (n: number) => string = (n) => `c_${n}`): Message[] => {
  let calls = 0;
  return turns.flatMap((given, n): Message[] => {
    // The generator produces JSON.
    const tool_calls = given.calls.map(({ name, input: args }) => ({
      id: idOf(calls++),
      name,
      arguments: args as JsonObject,
    }));
    return [
      ...(given.system === undefined
        ? []
        : [
            {
              id: `s${n}`,
              role: 'system',
              content: [{ type: 'text', text: given.system }],
            } satisfies Message,
          ]),
      { id: `u${n}`, role: 'user', content: given.user },
      { id: `a${n}`, role: 'assistant', content: given.text, tool_calls },
      ...tool_calls.map(
        ({ id }): Message => ({
          id: `r${id}`,
          role: 'tool',
          tool_call_id: id,
          content: [{ type: 'text', text: given.result }],
        }),
      ),
    ];
  });
};

const request = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  system: fc.array(word, { maxLength: 2 }),
  tools: fc.boolean(),
  temperature: fc.option(fc.constantFrom(0, 0.5, 1)),
  top_p: fc.option(fc.constantFrom(0.1, 1)),
  max_tokens: fc.option(fc.integer({ min: 1, max: 9999 })),
  effort: fc.option(fc.constantFrom('none' as const, 'low' as const, 'medium' as const, 'high' as const)),
  cache: fc.boolean(),
  upstream: fc.constantFrom(
    'gpt-4o',
    'o3',
    'o4-mini',
    'gpt-5',
    'gpt-5.1',
    'gpt-5-chat-latest',
    'gpt-4o-search-preview',
  ),
});
type Given = typeof request extends fc.Arbitrary<infer R> ? R : never;

const TOOL = {
  id: 'search',
  name: 'search',
  description: 'Finds.',
  category: null,
  parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
};

const requestFor = ({ turns, system, tools, temperature, top_p, max_tokens, effort, cache }: Given) =>
  requestOf('', {
    system,
    messages: historyOf(turns),
    tools: tools ? [TOOL] : [],
    overrides: { temperature, top_p, max_tokens, reasoning_effort: effort },
    session: { thread_id: 't'.repeat(70), run_id: 'r' },
    ...(cache && { cache: { stable_messages: 0 } }),
  });

/** The request of the package for the same input. */
const theirs = async (
  create: (answer: typeof fetch) => LanguageModelV3,
  given: InferenceRequest,
  providerOptions: LanguageModelV3CallOptions['providerOptions'],
): Promise<JsonObject> => {
  let body = '';
  const model = create(async (_, init) => {
    body = String(init?.body);
    return new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
  });
  const { temperature, top_p, max_tokens } = given.overrides;
  await model.doStream({
    prompt: toPrompt(given, { modalities: undefined, systemFirst: false }),
    ...(given.tools.length > 0 && {
      tools: given.tools.map(({ id, description }) => ({
        type: 'function' as const,
        name: id,
        description,
        inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      })),
    }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(max_tokens != null && { maxOutputTokens: max_tokens }),
    ...(providerOptions && { providerOptions }),
  });
  return JSON.parse(body);
};

const connection = { baseURL: 'https://api.example', apiKey: 'k' };
const sameBody = (ours: JsonObject, expected: JsonObject): void => {
  if (isDeepStrictEqual(ours, expected)) return;
  throw new Error(`${JSON.stringify(ours)} is not ${JSON.stringify(expected)}`);
};

t.test('sends the same body to OpenAI as the package', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const asked = requestFor(given);
      const effort = given.effort && wireEffort(given.effort, given.upstream, 'openai');
      const expected = await theirs(
        (fetch) => createOpenAI({ ...connection, fetch }).chat(given.upstream),
        asked,
        {
          openai: {
            ...(effort && { reasoningEffort: effort }),
            ...(given.cache && { promptCacheKey: 't'.repeat(64) }),
          },
        },
      );
      sameBody(bodyOf(OPENAI_CHAT, asked, { upstream: given.upstream }), expected);
    }),
    { numRuns: RUNS },
  );
});

t.test('sends the same body to other services as the package', async () => {
  await fc.assert(
    fc.asyncProperty(request, fc.boolean(), async (given, isForeign) => {
      const asked = requestFor(given);
      const expected = await theirs(
        (fetch) =>
          createOpenAICompatible({ ...connection, name: 'compatible', includeUsage: true, fetch }).chatModel(
            'qwen3',
          ),
        asked,
        {
          compatible: {
            ...(given.effort && { reasoning_effort: given.effort }),
            ...(given.cache && isForeign && { prompt_cache_key: 't'.repeat(64) }),
          },
        },
      );
      sameBody(bodyOf(isForeign ? FOREIGN_CHAT : COMPATIBLE_CHAT, asked, { upstream: 'qwen3' }), expected);
    }),
    { numRuns: RUNS },
  );
});

/* Differences from the body of the package */

const thinking: Message = {
  id: 'a',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'Hi' },
  ],
};

t.test('omits thoughts in blocks, because Groq and Cerebras reject an unknown field', async (t) => {
  for (const options of [OPENAI_CHAT, FOREIGN_CHAT, COMPATIBLE_CHAT, DEEPSEEK_CHAT]) {
    t.strictSame(messagesOf(options, [thinking]), [{ role: 'assistant', content: 'Hi' }]);
  }
});

t.test('sends a text document as text to every service', async (t) => {
  const data = Buffer.from('Zürich').toString('base64');
  const document: ContentBlock = {
    type: 'document',
    source: { type: 'base64', media_type: 'text/plain', data },
  };
  for (const options of [OPENAI_CHAT, FOREIGN_CHAT]) {
    t.match(messagesOf(options, [{ id: 'u', role: 'user', content: [document] }]), [
      { content: [{ type: 'text', text: 'Zürich' }] },
    ]);
  }
});

t.test('names a document without a name', async (t) => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } as const;
  t.match(messagesOf(OPENAI_CHAT, [{ id: 'u', role: 'user', content: [{ type: 'document', source }] }]), [
    {
      content: [
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      ],
    },
  ]);
});

const refused: [block: ContentBlock, why: string][] = [
  [{ type: 'audio', source: { type: 'url', url: 'https://a.example/x' } }, 'audio file parts with URLs'],
  [{ type: 'document', source: { type: 'url', url: 'https://a.example/x' } }, 'PDF file parts with URLs'],
  [{ type: 'video', source: { type: 'url', url: 'https://a.example/x' } }, 'file part media type video/mp4'],
  [
    { type: 'audio', source: { type: 'base64', media_type: 'audio/ogg', data: 'AAAA' } },
    'audio media type audio/ogg',
  ],
];
for (const [block, why] of refused) {
  t.test(`rejects ${why} before a request to the service`, async (t) => {
    t.throws(() => messagesOf(FOREIGN_CHAT, [{ id: 'u', role: 'user', content: [block] }]), {
      class: 'invalid_request',
      message: `invalid request: ${why} not supported by this provider`,
    });
  });
}

const overrides = { max_tokens: 7, temperature: 0.5, top_p: 0.5 };
const fields: [upstream: string, options: ChatOptions, effort: string | undefined, sent: object][] = [
  ['openai/gpt-5', FOREIGN_CHAT, 'max', { max_completion_tokens: 7, reasoning_effort: 'high' }],
  ['gpt-5.1', FOREIGN_CHAT, undefined, { max_completion_tokens: 7 }],
  [
    'gpt-5.1',
    FOREIGN_CHAT,
    'none',
    { max_completion_tokens: 7, temperature: 0.5, top_p: 0.5, reasoning_effort: 'none' },
  ],
  ['o3', OPENAI_CHAT, 'none', { max_completion_tokens: 7, reasoning_effort: 'low' }],
  ['o3', OPENAI_CHAT, 'max', { max_completion_tokens: 7, reasoning_effort: 'high' }],
  ['gpt-5', OPENAI_CHAT, 'none', { max_completion_tokens: 7, reasoning_effort: 'minimal' }],
  ['gpt-5.2', OPENAI_CHAT, 'max', { max_completion_tokens: 7, reasoning_effort: 'xhigh' }],
  ['gpt-6', OPENAI_CHAT, 'none', { max_completion_tokens: 7, reasoning_effort: 'low' }],
  ['gpt-6', OPENAI_CHAT, 'max', { max_completion_tokens: 7, reasoning_effort: 'max' }],
  ['gpt-4o', OPENAI_CHAT, 'max', overrides],
  ['gpt-6-sol', OPENAI_CHAT, 'none', { max_completion_tokens: 7, reasoning_effort: 'none' }],
  ['my-deployment', OPENAI_CHAT, 'max', { ...overrides, reasoning_effort: 'high' }],
  ['gpt-oss-120b', COMPATIBLE_CHAT, 'max', { ...overrides, reasoning_effort: 'high' }],
  ['openai/gpt-4o-search-preview', FOREIGN_CHAT, undefined, { max_tokens: 7, top_p: 0.5 }],
];
for (const [upstream, options, effort, sent] of fields) {
  t.test(`sends ${upstream} of ${options.service} the effort ${effort}`, async (t) => {
    const asked = requestOf('x', {
      overrides: { ...overrides, ...(effort && { reasoning_effort: effort as 'max' | 'none' }) },
    });
    const { model, messages, stream, stream_options, ...rest } = bodyOf(options, asked, { upstream });
    t.strictSame(rest, sent);
    t.strictSame(
      [model, messages, stream, stream_options],
      [upstream, [{ role: 'user', content: 'x' }], true, { include_usage: true }],
    );
  });
}

t.test('applies the output limit of the model if the run sets none', async (t) => {
  t.equal(bodyOf(FOREIGN_CHAT, requestOf('x'), { spec: { max_output_tokens: 9 } }).max_tokens, 9);
  t.equal(
    bodyOf(FOREIGN_CHAT, requestOf('x', { overrides }), { spec: { max_output_tokens: 9 } }).max_tokens,
    7,
  );
});

t.test('sends no cache key without a session', async (t) => {
  t.notOk('prompt_cache_key' in bodyOf(FOREIGN_CHAT, requestOf('x', { cache: { stable_messages: 0 } })));
});

/* Reasoning */

const itemOf = (item: JsonObject, text = 0, calls = 0, model = 'm'): ReasoningItem => ({
  provider: 'p',
  model,
  format: 'openai-chat',
  after: { text, calls },
  item,
});
const answered = (items: ReasoningItem[], text = 'Hi'): Message[] => [
  {
    id: 'a',
    role: 'assistant',
    content: [{ type: 'text', text }],
    tool_calls: [
      { id: 'c1', name: 'f', arguments: {} },
      { id: 'c2', name: 'f', arguments: {} },
    ],
    metadata: { reasoning_items: items },
  },
  { id: 'r1', role: 'tool', tool_call_id: 'c1', content: [] },
  { id: 'r2', role: 'tool', tool_call_id: 'c2', content: [] },
];
const DETAIL = { type: 'reasoning.text', text: 'x', signature: 'SIG', index: 0 };

const returned: [name: string, options: ChatOptions, items: ReasoningItem[], fields: JsonObject][] = [
  ['reasoning_content', COMPATIBLE_CHAT, [itemOf({ reasoning_content: 'hm' })], { reasoning_content: 'hm' }],
  ['reasoning', COMPATIBLE_CHAT, [itemOf({ reasoning: ' hm\n' })], { reasoning: ' hm\n' }],
  [
    'reasoning_details',
    FOREIGN_CHAT,
    [itemOf({ reasoning_details: [DETAIL] })],
    { reasoning_details: [DETAIL] },
  ],
  [
    'reasoning in parts',
    FOREIGN_CHAT,
    [
      itemOf({ reasoning: 'a', reasoning_details: [DETAIL] }),
      itemOf({ reasoning: 'b', reasoning_details: [DETAIL] }, 2, 1),
    ],
    { reasoning: 'ab', reasoning_details: [DETAIL, DETAIL] },
  ],
  ['what another model has reasoned', FOREIGN_CHAT, [itemOf({ reasoning: 'hm' }, 0, 0, 'other')], {}],
  ['nothing for DeepSeek', DEEPSEEK_CHAT, [], { reasoning_content: '' }],
  [
    'reasoning for DeepSeek',
    DEEPSEEK_CHAT,
    [itemOf({ reasoning_content: 'hm' })],
    { reasoning_content: 'hm' },
  ],
  ['reasoning for OpenAI', OPENAI_CHAT, [itemOf({ reasoning_content: 'hm' })], {}],
];
for (const [name, options, items, sent] of returned) {
  t.test(`sends a completion with ${name} as ${JSON.stringify(sent)}`, async (t) => {
    const { role, content, tool_calls, ...rest } = Object(Object(messagesOf(options, answered(items)))[0]);
    t.strictSame(rest, sent);
    t.strictSame([role, content, tool_calls.length], ['assistant', 'Hi', 2]);
  });
}

t.test('sends a thought of another service to DeepSeek where it requires one', async (t) => {
  const [message, ...results] = answered([]);
  if (!message) throw new Error('no message');
  const content: ContentBlock[] = [{ type: 'thinking', thinking: 'so' }, ...message.content];
  t.match(messagesOf(DEEPSEEK_CHAT, [{ ...message, content }, ...results]), [{ reasoning_content: 'so' }]);
});

t.test('sends a Gemini signature with its call', async (t) => {
  const extra_content = { google: { thought_signature: 'SIG' } };
  const [message] = Object(messagesOf(FOREIGN_CHAT, answered([itemOf({ extra_content }, 2, 1)])));
  t.notOk('extra_content' in message.tool_calls[0]);
  t.strictSame(message.tool_calls[1].extra_content, extra_content);
});

/* Checks by a strict service */

const odd = fc.constantFrom(
  '',
  ' ',
  '\n\n',
  'half \ud83d',
  'ok',
  'functions.x:0',
  'get weather',
  'a'.repeat(99),
  '1',
);
const oddBlock = fc.oneof(
  odd.map((text): ContentBlock => ({ type: 'text', text })),
  odd.map((text): ContentBlock => ({ type: 'thinking', thinking: text })),
  mediaBlock,
);
const oddTurn: fc.Arbitrary<Turn> = fc.record({
  user: fc.array(oddBlock, { maxLength: 3 }),
  text: fc.array(
    oddBlock.filter(({ type }) => type === 'text' || type === 'thinking'),
    { maxLength: 3 },
  ),
  calls: fc.array(
    fc.record({ name: odd, input: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant({ x: '\udc00' })) }),
    {
      maxLength: 3,
    },
  ),
  result: odd,
  system: fc.option(odd, { nil: undefined }),
});
const strict: [options: ChatOptions, rules: StrictRules, upstream: string][] = [
  [OPENAI_CHAT, { reasons: true }, 'gpt-5'],
  [COMPATIBLE_CHAT, { reasoning: ['reasoning'] }, 'm'],
  [DEEPSEEK_CHAT, { reasoning: ['reasoning', 'reasoning_content'], reasoningRequired: true }, 'm'],
];
for (const [options, rules, upstream] of strict) {
  t.test(`a strict service accepts every history (${JSON.stringify(rules)})`, async () => {
    fc.assert(
      fc.property(
        fc.array(oddTurn, { minLength: 1, maxLength: 4 }),
        odd,
        fc.boolean(),
        (turns, name, asBlocks) => {
          const messages = historyOf(turns, (n) => `${name}${n}`).map((message): Message => {
            if (message.role === 'assistant') {
              const metadata = { reasoning_items: [itemOf({ reasoning: 'hm' }, 1, 0, upstream)] };
              return { ...message, metadata };
            }
            if (message.role !== 'tool' || !asBlocks) return message;
            const content = message.content.filter((block) => block.type === 'text');
            const tool_use_id = message.tool_call_id ?? '';
            return { id: message.id, role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] };
          });
          const tools = [{ ...TOOL, id: name || 'x' }];
          const body = bodyOf(options, requestOf('', { system: [name], messages, tools, overrides }), {
            upstream,
          });
          const problems = problemsOfChat(body, rules);
          if (problems.length > 0) throw new Error(`${problems.join('; ')} in ${JSON.stringify(body)}`);
        },
      ),
      { numRuns: RUNS },
    );
  });
}

t.test('the strict service rejects each kind of invalid request', async (t) => {
  const user = { role: 'user', content: 'x' };
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const problems = (messages: unknown[], rules?: StrictRules) =>
    problemsOfChat({ model: 'm', stream: true, messages }, rules).length;
  t.equal(problems([user]), 0);
  t.equal(problems([user, { role: 'assistant', content: null, tool_calls: [called] }]), 1);
  t.equal(problems([user, { role: 'assistant', content: '\n' }]), 1);
  t.equal(problems([user, { role: 'assistant', content: 'x', reasoning_content: 'x' }]), 1);
  t.equal(problems([{ role: 'tool', tool_call_id: 'c', content: '' }]), 1);
  t.equal(problems([{ role: 'user', content: '\ud83d' }]), 1);
  const asked = [
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'c', content: '' },
  ];
  t.equal(problems(asked), 0);
  t.equal(problems(asked, { reasoningRequired: true }), 1);
});

t.test('sends tools under their names for models', async (t) => {
  const tool = { ...TOOL, id: 'sales bot', parameters: { type: 'string' } };
  const { tools } = bodyOf(FOREIGN_CHAT, requestOf('x', { tools: [tool], messages: [userMessage('x')] }));
  t.strictSame(tools, [
    {
      type: 'function',
      function: {
        name: nameForModel('sales bot'),
        description: 'Finds.',
        parameters: { type: 'object', properties: {} },
      },
    },
  ]);
});
