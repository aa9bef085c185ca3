import { isDeepStrictEqual } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import t from 'tap';
import { toModelError } from '../../../src/ai-sdk/errors.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import { describeMedia } from '../../../src/schema/described-media.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { MediaBlock } from '../../../src/schema/media.ts';
import type { ContentBlock, Message, ReasoningItem } from '../../../src/schema/message.ts';
import type { ReasoningEffort } from '../../../src/schema/model-settings.ts';
import { nameForModel, schemaForModel } from '../../../src/schema/model-tool.ts';
import fc from '../../random.ts';
import { requestOf, userMessage } from '../infer.ts';
import { callOf } from './decode.ts';
import { openaiResponsesEffort } from './package-effort.ts';
import { toPrompt } from './package-prompt.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/** Requests of the Responses protocol, compared with the package except for the differences in this file. */

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 600);

const wire = openaiResponsesWire();
const encoded = (more: Partial<WireCall>): JsonObject => wire.encode(callOf(more)).body;

t.test('sends the path, no headers and no unset field', async (t) => {
  t.strictSame(wire.encode(callOf({ upstream: 'gpt-4o' })), {
    path: 'responses',
    headers: {},
    body: {
      model: 'gpt-4o',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      store: false,
      stream: true,
    },
    sent: { settings: {}, adjusted: [] },
  });
});

const SETTINGS: [upstream: string, overrides: InferenceRequest['overrides'], sent: JsonObject][] = [
  [
    'gpt-4o',
    { temperature: 0, top_p: 0.5, max_tokens: 7 },
    { temperature: 0, top_p: 0.5, max_output_tokens: 7 },
  ],
  ['gpt-4o', { reasoning_effort: 'high' }, {}],
  [
    'gpt-5',
    { reasoning_effort: 'high' },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'high', summary: 'auto' } },
  ],
  [
    'gpt-5',
    { reasoning_effort: 'max' },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'high', summary: 'auto' } },
  ],
  [
    'gpt-5',
    { reasoning_effort: 'none' },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'minimal', summary: 'auto' } },
  ],
  [
    'gpt-5',
    { reasoning_effort: { budget: 9000 } },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'medium', summary: 'auto' } },
  ],
  ['gpt-5', { temperature: 1, top_p: 1 }, { include: ['reasoning.encrypted_content'] }],
  [
    'gpt-5.1',
    { reasoning_effort: 'none', temperature: 1 },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'none' }, temperature: 1 },
  ],
  [
    'gpt-6',
    { reasoning_effort: 'none', temperature: 1 },
    { include: ['reasoning.encrypted_content'], reasoning: { effort: 'low', summary: 'auto' } },
  ],
  ['o3', { max_tokens: null, temperature: null }, { include: ['reasoning.encrypted_content'] }],
];
for (const [upstream, overrides, sent] of SETTINGS) {
  t.test(`${upstream} receives the accepted settings of ${JSON.stringify(overrides)}`, async (t) => {
    const {
      model: _,
      input: _input,
      store: _store,
      stream: _stream,
      ...rest
    } = encoded({ upstream, request: requestOf('x', { overrides }) });
    t.strictSame(rest, sent);
  });
}

t.test('applies the output limit of the model if the run sets none', async (t) => {
  const spec = { max_output_tokens: 99 };
  t.equal(encoded({ spec }).max_output_tokens, 99);
  t.equal(encoded({ spec, request: requestOf('x', { overrides: { max_tokens: 5 } }) }).max_output_tokens, 5);
});

t.test('sends one cache key for the requests of a thread, if the run asks for caching', async (t) => {
  const session = { thread_id: 't'.repeat(80), run_id: 'r' };
  const cache = { stable_messages: 0 };
  t.equal(encoded({ request: requestOf('x', { session, cache }) }).prompt_cache_key, 't'.repeat(64));
  t.notOk('prompt_cache_key' in encoded({ request: requestOf('x', { session }) }));
  t.notOk('prompt_cache_key' in encoded({ request: requestOf('x', { cache }) }));
});

const item = (
  id: string,
  after: ReasoningItem['after'],
  more: Partial<ReasoningItem> = {},
): ReasoningItem => ({
  provider: 'p',
  model: 'gpt-5',
  format: 'openai-responses',
  after,
  item: { type: 'reasoning', id, summary: [], encrypted_content: `ENC-${id}` },
  ...more,
});

const thinker = (reasoning_items: ReasoningItem[], more: Partial<Message> = {}): Message[] => [
  userMessage('weather?'),
  {
    id: 'a',
    role: 'assistant',
    content: [{ type: 'text', text: 'Looking.' }],
    tool_calls: [
      { id: 'c1', name: 'look', arguments: { at: 'Oslo' } },
      { id: 'c2', name: 'look', arguments: 'Rome' },
    ],
    metadata: { reasoning_items },
    ...more,
  },
  { id: 't1', role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '7 C' }] },
  { id: 't2', role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: '' }] },
];

const inputFor = (messages: Message[], more: Partial<InferenceRequest> = {}): JsonObject[] =>
  encoded({ upstream: 'gpt-5', request: requestOf('', { messages, ...more }) }).input as JsonObject[];

const kinds = (input: JsonObject[]): unknown[] =>
  input.map(({ type, role, id, call_id }) => id ?? call_id ?? role ?? type);

t.test('sends reasoning back at its positions, before the output to which it belongs', async (t) => {
  const input = inputFor(
    thinker([
      item('r1', { text: 0, calls: 0 }),
      item('r2', { text: 8, calls: 0 }),
      item('r3', { text: 8, calls: 1 }),
    ]),
  );
  t.strictSame(input, [
    { role: 'user', content: [{ type: 'input_text', text: 'weather?' }] },
    { type: 'reasoning', id: 'r1', summary: [], encrypted_content: 'ENC-r1' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
    { type: 'reasoning', id: 'r2', summary: [], encrypted_content: 'ENC-r2' },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"Oslo"}' },
    { type: 'reasoning', id: 'r3', summary: [], encrypted_content: 'ENC-r3' },
    { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: '7 C' },
    { type: 'function_call_output', call_id: 'c2', output: '' },
  ]);
});

t.test('omits reasoning without following output of its completion', async (t) => {
  const messages = thinker([item('r1', { text: 0, calls: 0 }), item('r2', { text: 8, calls: 0 })], {
    tool_calls: [],
  });
  t.strictSame(kinds(inputFor(messages.slice(0, 2))), ['user', 'r1', 'assistant']);
});

t.test('omits reasoning of another model, provider or protocol', async (t) => {
  const after = { text: 0, calls: 0 };
  const items = [
    item('r1', after, { provider: 'other' }),
    item('r2', after, { model: 'gpt-4o' }),
    item('r3', after, { format: 'anthropic' }),
  ];
  t.strictSame(kinds(inputFor(thinker(items))), ['user', 'assistant', 'c1', 'c2', 'c1', 'c2']);
});

t.test('keeps the positions of system texts, under the role of the model', async (t) => {
  const messages: Message[] = [
    userMessage('a'),
    { id: 's', role: 'system', content: [{ type: 'text', text: 'Two.' }] },
    userMessage('b'),
  ];
  t.strictSame(kinds(inputFor(messages, { system: ['One.'] })), ['developer', 'user', 'developer', 'user']);
  const { input } = encoded({ upstream: 'gpt-4o', request: requestOf('', { messages, system: ['One.'] }) });
  t.strictSame(kinds(input as JsonObject[]), ['system', 'user', 'system', 'user']);
});

const media = (type: MediaBlock['type'], source: MediaBlock['source'], title?: string): InferenceRequest =>
  requestOf('', {
    messages: [
      {
        id: 'u',
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type, source, ...(title !== undefined && { title }) },
        ],
      },
    ],
  });
const url = { type: 'url', url: 'https://example.org/file' } as const;
const base64 = (media_type: string) => ({ type: 'base64', media_type, data: 'AAAA' }) as const;

const FILES: [name: string, request: InferenceRequest, sent: JsonObject][] = [
  ['a linked picture', media('image', url), { type: 'input_image', image_url: 'https://example.org/file' }],
  [
    'a picture',
    media('image', base64('image/png')),
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
  ],
  [
    'a picture of some type',
    media('image', base64('image/*')),
    { type: 'input_image', image_url: 'data:image/jpeg;base64,AAAA' },
  ],
  ['a linked document', media('document', url), { type: 'input_file', file_url: 'https://example.org/file' }],
  [
    'a document',
    media('document', base64('application/pdf')),
    { type: 'input_file', filename: 'part-1.pdf', file_data: 'data:application/pdf;base64,AAAA' },
  ],
  [
    'a document with a title',
    media('document', base64('application/pdf'), 'Spec'),
    { type: 'input_file', filename: 'Spec', file_data: 'data:application/pdf;base64,AAAA' },
  ],
];
for (const [name, request, sent] of FILES) {
  t.test(`sends ${name} as a part of the content`, async (t) => {
    const [user] = encoded({ request }).input as JsonObject[];
    t.strictSame(user?.content, [{ type: 'input_text', text: 'see' }, sent]);
  });
}

t.test('rejects a file without a part in the protocol before sending', async (t) => {
  t.throws(() => encoded({ request: media('audio', base64('audio/wav')) }), {
    class: 'invalid_request',
    message: 'invalid request: file part media type audio/wav not supported by this provider',
  });
});

// Histories as the loop writes them: each call has its result, and ids are unique.

const TEXTS = ['Hello.', ' spaced ', 'ü 😀', 'half \ud83d', ' ', '', '\n\n'];
const text = fc.constantFrom(...TEXTS).map((each): ContentBlock => ({ type: 'text', text: each }));
const file = fc.constantFrom<ContentBlock>(
  { type: 'image', source: url },
  { type: 'image', source: base64('image/png') },
  { type: 'document', source: url, title: 'Linked' },
  { type: 'document', source: base64('application/pdf') },
  { type: 'document', source: base64('text/plain') },
  { type: 'video', source: url },
  { type: 'image', source: { type: 'url', url: 'nope' } },
);
const NAMES = ['search', 'a b', 'weather.get', 'x'.repeat(70)];
const ARGUMENTS = [{ q: 1 }, {}, { text: 'half \ud83d' }, 'Paris', ['Paris'], null, 7];

type Turn = {
  user: ContentBlock[];
  said: ContentBlock[];
  calls: { name: string; args: unknown }[];
  places: number[];
  isLate: boolean;
};

const turn: fc.Arbitrary<Turn> = fc.record({
  user: fc.array(fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: file }), { maxLength: 3 }),
  said: fc.array(fc.oneof(text, fc.constant<ContentBlock>({ type: 'thinking', thinking: 'hm' })), {
    maxLength: 2,
  }),
  calls: fc.array(
    fc.record({ name: fc.constantFrom(...NAMES), args: fc.constantFrom<unknown>(...ARGUMENTS) }),
    { maxLength: 2 },
  ),
  places: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }),
  isLate: fc.boolean(),
});

const messagesOf = (turns: readonly Turn[], ids: (id: string) => string): Message[] =>
  turns.flatMap(({ user, said, calls, places, isLate }, n): Message[] => {
    const tool_calls = calls.map(({ name, args }, k) => ({
      id: ids(`c${n}_${k}`),
      name,
      arguments: args as JsonObject,
    }));
    const length = said.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
    const reasoning_items = [...places]
      .sort()
      .map((place, k) =>
        item(`r${n}_${k}`, { text: place === 0 ? 0 : length, calls: Math.max(0, place - 1) }),
      );
    return [
      { id: `u${n}`, role: 'user', content: user },
      ...(isLate
        ? [{ id: `s${n}`, role: 'system', content: [{ type: 'text', text: 'Be brief.' }] } as Message]
        : []),
      { id: `a${n}`, role: 'assistant', content: said, tool_calls, metadata: { reasoning_items } },
      ...tool_calls.map(
        ({ id }): Message => ({
          id: `t${id}`,
          role: 'tool',
          tool_call_id: id,
          content: [{ type: 'text', text: 'half \ud83d' }],
        }),
      ),
    ];
  });

const request = fc
  .record({
    turns: fc.array(turn, { maxLength: 3 }),
    isForeign: fc.boolean(),
    system: fc.subarray(['One.', '', ' ', 'Two.']),
    tools: fc.subarray(NAMES),
    overrides: fc.record(
      {
        temperature: fc.constantFrom(null, 0, 0.5),
        top_p: fc.constantFrom(null, 0.5),
        max_tokens: fc.constantFrom(null, 9),
        reasoning_effort: fc.constantFrom<ReasoningEffort | null>(null, 'none', 'low', 'max', {
          budget: 9000,
        }),
      },
      { requiredKeys: [] },
    ),
    cached: fc.boolean(),
  })
  .map(
    ({ turns, isForeign, system, tools, overrides, cached }): InferenceRequest => ({
      system,
      messages: [...messagesOf(turns, (id) => (isForeign ? `functions.${id}:0` : id)), userMessage('now')],
      tools: tools.map((id) => ({
        id,
        name: id,
        description: `Runs ${id}`,
        category: null,
        parameters: { type: 'object', properties: { q: { type: 'string' } } },
      })),
      overrides,
      ...(cached && { cache: { stable_messages: 1 }, session: { thread_id: 'thread', run_id: 'r' } }),
    }),
  );

const upstream = fc.constantFrom(
  'gpt-5',
  'gpt-5.1',
  'gpt-4o',
  'o3-mini',
  'gpt-5-chat-latest',
  'gpt-6',
  'gpt-6-sol',
  'llama',
);

const encodedOrRefused = (call: WireCall): JsonObject | string => {
  try {
    return wire.encode(call).body;
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
};

t.test('produces no request that the provider rejects, for any history', async () => {
  fc.assert(
    fc.property(request, upstream, (request, upstream) => {
      const body = encodedOrRefused(callOf({ upstream, request }));
      const rejected = typeof body === 'string' ? undefined : rejectionOf(body);
      if (rejected !== undefined) throw new Error(`${rejected}: ${JSON.stringify(body)}`);
    }),
    { numRuns: RUNS },
  );
});

/** The request that the provider package sends. */
const sentByPackage = async (request: InferenceRequest, upstream: string): Promise<JsonObject | string> => {
  let body: JsonObject = {};
  const fetch = async (_: unknown, init?: RequestInit) => {
    body = JSON.parse(String(init?.body));
    return new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
  };
  const { temperature, top_p, max_tokens, reasoning_effort } = request.overrides;
  const optionsOf = (): LanguageModelV3CallOptions => ({
    prompt: toPrompt(request, { modalities: undefined, systemFirst: false }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ id, description, parameters }) => {
        const fitted = schemaForModel(parameters);
        const inputSchema = 'schema' in fitted ? fitted.schema : {};
        return { type: 'function' as const, name: nameForModel(id), description, inputSchema };
      }),
    }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(max_tokens != null && { maxOutputTokens: max_tokens }),
    providerOptions: {
      openai: {
        store: false,
        ...(reasoning_effort != null && openaiResponsesEffort(reasoning_effort, upstream).openai),
        ...(request.cache && request.session && { promptCacheKey: request.session.thread_id }),
      },
    },
  });
  try {
    await createOpenAI({ apiKey: 'key', fetch }).responses(upstream).doStream(optionsOf());
    return body;
  } catch (error) {
    return toModelError(error).message;
  }
};

/**
 * The cases in which the package sends a request that the provider rejects; each row contains Troupe's replacement. The
 * rows are applied to the request before the package receives it, so that everything else must be equal.
 */
const DIFFERENCES: Record<string, (request: InferenceRequest) => InferenceRequest> = {
  'blank texts are left out, and a message without any content says so': (request) => ({
    ...request,
    system: request.system.filter((each) => each.trim() !== ''),
    messages: request.messages.map((message) => {
      const content = message.content.filter((block) => block.type !== 'text' || block.text.trim() !== '');
      const isEmpty = message.role === 'user' && content.length === 0;
      return { ...message, content: isEmpty ? [{ type: 'text', text: '(empty message)' }] : content };
    }),
  }),
  'a document of text is sent as text': (request) => ({
    ...request,
    messages: request.messages.map((message) => ({ ...message, content: message.content.map(asText) })),
  }),
  'an address that is none is described once it was answered': (request) => {
    const answered = request.messages.findLastIndex(({ role }) => role === 'assistant');
    const messages = request.messages.map((message, index) =>
      index < answered ? { ...message, content: message.content.map(described) } : message,
    );
    return { ...request, messages };
  },
  'a lone surrogate is replaced': (request) => ({
    ...request,
    messages: JSON.parse(
      JSON.stringify(request.messages).replaceAll('\\ud83d', '\ufffd').replaceAll('\ufffd\\ude00', '😀'),
    ),
  }),
  'arguments that are no object are an empty one': (request) => ({
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      ...(message.tool_calls && {
        tool_calls: message.tool_calls.map((call) => ({
          ...call,
          arguments:
            typeof call.arguments === 'object' && !Array.isArray(call.arguments) ? call.arguments : {},
        })),
      }),
    })),
  }),
};

const described = (block: ContentBlock): ContentBlock =>
  'source' in block && block.source.type === 'url' && !URL.canParse(block.source.url)
    ? { type: 'text', text: describeMedia(block) }
    : block;

const asText = (block: ContentBlock): ContentBlock =>
  block.type === 'document' && block.source.type === 'base64' && block.source.media_type === 'text/plain'
    ? { type: 'text', text: Buffer.from(block.source.data, 'base64').toString() }
    : block;

const withoutReasoning = (request: InferenceRequest): InferenceRequest => ({
  ...request,
  messages: request.messages.map(({ metadata: _, ...message }) => message),
});

/** Normalizes call ids that providers reject and that are replaced; tests of `idForModel` cover the replacements. */
const idsIn = (body: JsonObject | string): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/functions[._](c\d_\d)[:_]0(_[0-9a-f]{12})?/g, '$1'));

t.test('sends the same request as the package except for the differences', async () => {
  await fc.assert(
    fc.asyncProperty(request, upstream, async (given, upstream) => {
      const request = withoutReasoning(given);
      const fitted = Object.values(DIFFERENCES).reduce((all, fit) => fit(all), request);
      const theirs = idsIn(await sentByPackage(fitted, upstream));
      const ours = idsIn(encodedOrRefused(callOf({ upstream, request })));
      if (isDeepStrictEqual(ours, theirs)) return;
      throw new Error(`${JSON.stringify(ours)}\n instead of ${JSON.stringify(theirs)}`);
    }),
    { numRuns: RUNS / 2 },
  );
});

t.test('recognizes an OpenAI model behind a gateway, although the package does not', async (t) => {
  const request = requestOf('x', { system: ['s'], overrides: { reasoning_effort: 'low', temperature: 1 } });
  t.match(encoded({ upstream: 'openai/gpt-5', request }), {
    input: [{ role: 'developer' }, {}],
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    temperature: undefined,
  });
});
