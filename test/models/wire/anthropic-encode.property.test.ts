import assert from 'node:assert/strict';
import t from 'tap';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { objectOf } from '../../../src/models/wire/read.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { requestOf } from '../infer.ts';
import { sentBySdk } from './anthropic-oracle.ts';
import { callOf } from './decode.ts';
import { refusalsOf } from './strict-anthropic.ts';

/**
 * Compares the requests for generated histories with those of the package `@ai-sdk/anthropic`. Histories that every
 * service accepts are sent in the same form (the differences are in anthropic-encode.test.ts), and a strict service
 * accepts all of them. `TROUPE_ORACLE_RUNS` sets their number.
 */

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS || 600);

const MODELS = [
  'up',
  'claude-3-haiku-20240307',
  'claude-3-7-sonnet-20250219',
  'claude-opus-4-1',
  'claude-sonnet-4-5',
  'claude-sonnet-4-6',
  'claude-opus-4-8',
  'claude-opus-5',
  'claude-opus-5-20260901',
  'claude-fable-5',
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-instant-1.2',
  'claude-unheard-of',
];

const upstream = fc.constantFrom(...MODELS);
const plain = fc.string({ minLength: 1, maxLength: 8 }).map((text) => `${text}x`);
const odd = fc.constantFrom('', ' ', '\n\n', 'x\ud83d', '\udc00', 'end \n', 'plain', '😀');
const overrides = fc.record(
  {
    temperature: fc.constantFrom(null, -1, 0, 0.5, 3),
    top_p: fc.constantFrom(null, 0.5),
    max_tokens: fc.constantFrom(null, 1, 2000),
    reasoning_effort: fc.constantFrom(
      null,
      'none' as const,
      'low' as const,
      'medium' as const,
      'max' as const,
      { budget: 0 },
      { budget: 7 },
      { budget: 9000 },
    ),
  },
  { requiredKeys: [] },
);
const tools = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('get', 'put', 'a b', 'x'.repeat(70)),
    name: fc.constant('Tool'),
    description: plain,
    category: fc.constant(null),
    parameters: fc.constantFrom<JsonObject>(
      { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      { type: 'string' },
    ),
  }),
  { maxLength: 2, selector: ({ id }) => id },
);

const file = fc.constantFrom<ContentBlock>(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  { type: 'image', source: { type: 'url', url: 'https://a.example/x y' }, title: 'Picture' },
  {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    title: 'Spec',
  },
  { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: 'R3LDvMOfZQ==' } },
  { type: 'document', source: { type: 'url', url: 'https://a.example/x.pdf' } },
);
const textOf = (text: string): ContentBlock => ({ type: 'text', text });

let ids = 0;
const nextId = (): string => {
  ids += 1;
  return `toolu_${ids}`;
};

/** A self-contained part of a history. */
const round: fc.Arbitrary<Message[]> = fc.oneof(
  fc
    .array(fc.oneof(plain.map(textOf), file), { minLength: 1, maxLength: 3 })
    .map((content): Message[] => [{ id: 'u', role: 'user', content }]),
  plain.map((text): Message[] => [{ id: 's', role: 'system', content: [textOf(text)] }]),
  fc.tuple(plain, fc.boolean()).map(([text, thinks]): Message[] => [
    {
      id: 'a',
      role: 'assistant',
      content: thinks ? [{ type: 'thinking', thinking: 'Hm' }, textOf(text)] : [textOf(text)],
    },
  ]),
  fc
    .record({
      texts: fc.array(plain, { maxLength: 1 }),
      results: fc.array(plain, { minLength: 1, maxLength: 3 }),
      asBlocks: fc.boolean(),
    })
    .map(({ texts, results, asBlocks }): Message[] => {
      const calls = results.map((text) => ({ id: nextId(), name: 'get', input: { a: [1] }, text }));
      const content = texts.map(textOf);
      if (!asBlocks) {
        return [
          {
            id: 'a',
            role: 'assistant',
            content,
            tool_calls: calls.map(({ id, name, input }) => ({ id, name, arguments: input })),
          },
          ...calls.map(
            ({ id, text }): Message => ({ id, role: 'tool', tool_call_id: id, content: [textOf(text)] }),
          ),
        ];
      }
      return [
        {
          id: 'a',
          role: 'assistant',
          content: [
            ...content,
            ...calls.map(({ id, name, input }) => ({ type: 'tool_use' as const, id, name, input })),
          ],
        },
        {
          id: 'u',
          role: 'user',
          content: calls.map(({ id, text }) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: [{ type: 'text' as const, text }],
          })),
        },
      ];
    }),
);

const fit: fc.Arbitrary<WireCall> = fc
  .record({
    upstream,
    system: fc.array(plain, { maxLength: 2 }),
    rounds: fc.array(round, { maxLength: 5 }),
    tools,
    overrides,
    limit: fc.constantFrom(undefined, 500),
    stable: fc.option(fc.nat(20), { nil: undefined }),
  })
  .map(({ upstream, system, rounds, tools, overrides, limit, stable }) => {
    const messages: Message[] = [
      { id: 'first', role: 'user', content: [textOf('q')] },
      ...rounds.flat(),
      // Text directly after results may or may not begin a turn; the two cases differ with thinking.
      { id: 'so', role: 'assistant', content: [textOf('so')] },
      { id: 'last', role: 'user', content: [textOf('then')] },
    ];
    let stable_messages = stable === undefined ? 0 : stable % (messages.length + 1);
    // The results of a completion form one piece, whose last message is the end of the stable part.
    while (messages[stable_messages]?.role === 'tool') stable_messages += 1;
    const request: InferenceRequest = requestOf('', {
      system,
      messages,
      tools,
      overrides,
      ...(stable !== undefined && { cache: { stable_messages } }),
    });
    return callOf({ upstream, request, spec: limit === undefined ? {} : { max_output_tokens: limit } });
  });

/** The service rejects a budget that leaves no tokens of `max_tokens` for the completion; the package sends it. */
const withBudgetOf = (ours: JsonObject, theirs: unknown): unknown => {
  const { thinking, max_tokens } = objectOf(theirs) ?? {};
  return Number(objectOf(thinking)?.budget_tokens) >= Number(max_tokens)
    ? { ...objectOf(theirs), thinking: ours.thinking }
    : theirs;
};

t.test('sends a history that every service accepts in the form of the package', async () => {
  await fc.assert(
    fc.asyncProperty(fit, async (call) => {
      const request = anthropicWire().encode(call);
      assert.deepEqual(request.body, withBudgetOf(request.body, await sentBySdk(call)));
      assert.deepEqual(refusalsOf(request), []);
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});

const anyId = fc.constantFrom('a', 'b', 'functions.x:0', '', 'y'.repeat(80));
const oddText = fc.oneof(plain, odd);
const item = fc.constantFrom<JsonObject>(
  { type: 'thinking', thinking: 'Hm', signature: 'sig' },
  { type: 'thinking', thinking: '', signature: 'sig' },
  { type: 'redacted_thinking', data: 'x' },
);
const wildBlock = fc.oneof<fc.Arbitrary<ContentBlock>[]>(
  oddText.map(textOf),
  file,
  fc.record({ type: fc.constant('thinking' as const), thinking: oddText }),
  fc.record({
    type: fc.constant('tool_use' as const),
    id: anyId,
    name: fc.constantFrom('get', 'a.b c', 'get<|x|>'),
    input: fc.constantFrom<JsonObject[string]>({ a: 'x\ud83d' }, 'Paris', ['x'], null),
  }),
  fc.record({
    type: fc.constant('tool_result' as const),
    tool_use_id: anyId,
    content: fc.array(
      oddText.map((text) => ({ type: 'text' as const, text })),
      { maxLength: 1 },
    ),
  }),
);
const wildMessage = (model: string): fc.Arbitrary<Message> =>
  fc
    .record({
      role: fc.constantFrom(
        'user' as const,
        'assistant' as const,
        'assistant' as const,
        'tool' as const,
        'system' as const,
      ),
      content: fc.array(wildBlock, { maxLength: 4 }),
      calls: fc.array(
        fc.record({ id: anyId, name: fc.constantFrom('get', 'a.b'), arguments: fc.constant({ a: 1 }) }),
        {
          maxLength: 2,
        },
      ),
      result: anyId,
      items: fc.array(fc.record({ item, text: fc.nat(12), calls: fc.nat(2) }), { maxLength: 2 }),
    })
    .map(({ role, content, calls, result, items }) => ({
      id: 'm',
      role,
      content,
      ...(role === 'assistant' && { tool_calls: calls }),
      ...(role === 'tool' && { tool_call_id: result }),
      ...(role === 'assistant' && {
        metadata: {
          reasoning_items: items
            .toSorted((a, b) => a.calls - b.calls || a.text - b.text)
            .map(({ item, text, calls }) => ({
              provider: 'p',
              model,
              format: 'anthropic',
              after: { text, calls },
              item,
            })),
        },
      }),
    }));

const wild: fc.Arbitrary<WireCall> = upstream.chain((model) =>
  fc
    .record({
      messages: fc.array(wildMessage(model), { maxLength: 8 }),
      system: fc.array(oddText, { maxLength: 2 }),
      overrides,
      tools,
      stable: fc.option(fc.nat(9), { nil: undefined }),
    })
    .map(({ messages, system, overrides, tools, stable }) =>
      callOf({
        upstream: model,
        request: requestOf('', {
          messages,
          system,
          overrides,
          tools,
          ...(stable !== undefined && { cache: { stable_messages: stable } }),
        }),
      }),
    ),
);

t.test('a strict service accepts every history', async () => {
  await fc.assert(
    fc.property(wild, (call) => {
      assert.deepEqual(refusalsOf(anthropicWire().encode(call)), []);
    }),
    { numRuns: RUNS },
  );
});
