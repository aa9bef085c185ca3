import { isDeepStrictEqual } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import t from 'tap';
import { FOREIGN_CHAT, OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd } from '../../../src/models/model.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import fc, { anyText } from '../../random.ts';
import { type Heard, recordingSink } from '../infer.ts';
import { decode, unnamed } from './decode.ts';
import { createPartReceiver } from './package-parts.ts';

/**
 * Streams of Chat Completions, generated and then damaged, as read by the decoder and by the packages of the AI SDK.
 * Each difference has a row with its reason in the table below.
 */

// biome-ignore lint/suspicious/noExplicitAny: chunks are damaged in ways that no type describes
type Chunk = any;
type Read = { heard: Heard[]; end?: InferenceEnd | undefined; error?: ModelError };

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 2000);

const asEvents = (chunks: readonly Chunk[]): string =>
  [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

const theirs = async (create: (answer: typeof fetch) => LanguageModelV3, body: string): Promise<Read> => {
  const heard: Heard[] = [];
  const receive = createPartReceiver(recordingSink(heard));
  try {
    const { stream } = await create(
      async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    ).doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] });
    let end: InferenceEnd | undefined;
    for await (const part of stream) end ??= receive(part);
    return { heard, end };
  } catch (error) {
    return { heard, error: error instanceof ModelError ? error : new ModelError('provider', String(error)) };
  }
};

const connection = { baseURL: 'https://api.example', apiKey: 'k' };
const compatible = (fetch: typeof globalThis.fetch) =>
  createOpenAICompatible({ ...connection, name: 'compatible', includeUsage: true, fetch }).chatModel('m');
const openai = (fetch: typeof globalThis.fetch) => createOpenAI({ ...connection, fetch }).chat('m');

/** The content that both of them must find in a stream. Generated ids are not compared. */
const summaryOf = ({ heard, end }: Read, ids: ReadonlySet<string>) => {
  const joined = (kind: string) => heard.map((each) => (each[0] === kind ? each[1] : '')).join('');
  const calls = heard.flatMap(([kind, id, args = '']) => {
    if (kind !== 'end') return [];
    const name = heard.find((each) => each[0] === 'start' && each[1] === id)?.[2];
    return [`${ids.has(id) ? id : '?'} ${name} ${args}`];
  });
  const usage = end?.usage && { ...end.usage };
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: calls.sort(),
    usage,
    stop: end?.stop,
  };
};

/* Streams */

const piece = anyText({ minLength: 1, maxLength: 6 });
const count = fc.nat(5000);
const call = fc.record({
  name: fc.constantFrom('search', 'get_weather', 'f'),
  args: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  cuts: fc.array(fc.nat(40), { maxLength: 4 }),
});
const usage = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.option(fc.record({ cached_tokens: fc.option(fc.nat(9)) })),
    completion_tokens_details: fc.option(fc.record({ reasoning_tokens: fc.option(fc.nat(9)) })),
  },
  { requiredKeys: ['prompt_tokens', 'completion_tokens', 'total_tokens'] },
);
const answer = fc.record({
  role: fc.boolean(),
  field: fc.constantFrom('reasoning_content', 'reasoning'),
  reasoning: fc.array(piece, { maxLength: 3 }),
  text: fc.array(piece, { maxLength: 4 }),
  calls: fc.array(call, { maxLength: 3 }),
  indexed: fc.boolean(),
  alternating: fc.boolean(),
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'eos'),
  usage: fc.option(usage),
});
type Answer = typeof answer extends fc.Arbitrary<infer A> ? A : never;

const chunkOf = (delta: object, finish_reason: string | null = null): Chunk => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});

const deltasOf = ({ name, args, cuts }: Answer['calls'][number], n: number, index: object): object[] => {
  const text = JSON.stringify(args);
  const ends = [...new Set(cuts.map((cut) => Math.min(cut, text.length))), text.length].sort((a, b) => a - b);
  const pieces = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end));
  return [
    { ...index, id: `id${n}`, type: 'function', function: { name, arguments: '' } },
    ...pieces.map((each) => ({ ...index, function: { arguments: each } })),
  ];
};

const alternate = <Item>(lists: readonly (readonly Item[])[]): Item[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();

const streamOf = (given: Answer): Chunk[] => {
  const lists = given.calls.map((each, n) =>
    deltasOf(each, n, given.indexed || given.alternating ? { index: n } : {}),
  );
  const calls = given.alternating ? alternate(lists) : lists.flat();
  return [
    ...(given.role ? [chunkOf({ role: 'assistant', content: '' })] : []),
    ...given.reasoning.map((each) => chunkOf({ [given.field]: each })),
    ...given.text.map((each) => chunkOf({ content: each })),
    ...calls.map((each) => chunkOf({ tool_calls: [each] })),
    chunkOf({}, given.finish),
    ...(given.usage ? [{ id: 'c', choices: [], usage: given.usage }] : []),
  ];
};

/* Damage */

const UNKNOWN = [
  { type: 'ping' },
  { choices: null },
  {},
  { object: 'future', choices: [{ index: 0, delta: { future: 1 } }] },
  { choices: [{ index: 1, delta: { content: 'other choice' } }] },
];
const PATHS = [
  ['choices', 0, 'delta'],
  ['choices', 0, 'delta', 'content'],
  ['choices', 0, 'delta', 'tool_calls'],
  ['choices', 0, 'delta', 'tool_calls', 0, 'id'],
  ['choices', 0, 'delta', 'tool_calls', 0, 'index'],
  ['choices', 0, 'delta', 'tool_calls', 0, 'function'],
  ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'name'],
  ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments'],
  ['choices', 0, 'finish_reason'],
  ['usage'],
  ['usage', 'prompt_tokens'],
  ['usage', 'completion_tokens_details'],
] as const;

const damage = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('swap' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('field' as const), at: fc.nat(20), name: fc.string({ maxLength: 5 }) }),
  fc.record({ kind: fc.constant('event' as const), at: fc.nat(20), event: fc.constantFrom(...UNKNOWN) }),
  fc.record({
    kind: fc.constant('value' as const),
    at: fc.nat(20),
    path: fc.constantFrom(...PATHS),
    value: fc.constantFrom(null, '', 0, 7, true, [], {}, 'x'),
  }),
);
type Damage = typeof damage extends fc.Arbitrary<infer D> ? D : never;

const damaged = (chunks: Chunk[], how: Damage): Chunk[] => {
  const all = structuredClone(chunks);
  if (all.length === 0) return all;
  const at = how.at % all.length;
  if (how.kind === 'drop') all.splice(at, 1);
  else if (how.kind === 'repeat') all.splice(at, 0, structuredClone(all[at]));
  else if (how.kind === 'swap') all.splice(at, 2, ...all.slice(at, at + 2).reverse());
  else if (how.kind === 'event') all.splice(at, 0, how.event);
  else if (how.kind === 'field') {
    const delta = all[at]?.choices?.[0]?.delta;
    if (typeof delta === 'object' && delta !== null) delta[`x_${how.name}`] = 1;
    all[at] = { ...all[at], [`x_${how.name}`]: {} };
  } else {
    let holder = all[at];
    for (const key of how.path.slice(0, -1)) holder = holder?.[key];
    const last = how.path.at(-1) ?? '';
    if (typeof holder === 'object' && holder !== null && last in holder) holder[last] = how.value;
  }
  return all;
};

/* Differences */

type Summary = ReturnType<typeof summaryOf>;
type Case = { chunks: readonly Chunk[]; ours: Read; theirs: Read; a: Summary; b: Summary };
/** `in`: the field that may differ for this reason. */
type Difference = { in: keyof Summary | 'error'; reason: string; applies(given: Case): boolean };

const callDeltas = (chunks: readonly Chunk[]): Chunk[] =>
  chunks.flatMap((chunk) => {
    const list = chunk?.choices?.[0]?.delta?.tool_calls;
    return Array.isArray(list) ? list : [];
  });
const startsOf = (chunks: readonly Chunk[]): Chunk[] =>
  callDeltas(chunks).filter((delta) => typeof delta?.function?.name === 'string');
const isNameless = ({ error }: Read): boolean => /without a name/.test(`${error} ${error?.cause}`);

/** Whether the stream was read to its end, which is a filter or a missing completion. */
const isNamedEnd = ({ class: kind, status }: ModelError): boolean =>
  kind === 'content_filtered' || (kind === 'stream_interrupted' && status === undefined);
const hasId = (delta: Chunk): boolean => typeof delta?.id === 'string' && delta.id.trim() !== '';
const hasIndex = (delta: Chunk): boolean => typeof delta?.index === 'number';
const isWithout = (name: unknown): boolean => typeof name !== 'string';
/** Whether arguments arrive before the name of the call at their index. */
const areEarly = (deltas: readonly Chunk[]): boolean =>
  deltas.some(
    (delta, at) =>
      typeof delta?.index === 'number' &&
      isWithout(delta.function?.name) &&
      !deltas.slice(0, at).some((each) => each?.index === delta.index && !isWithout(each?.function?.name)),
  );

/** The text of choices other than the first one. */
const otherChoices = (chunks: readonly Chunk[]): string =>
  chunks
    .map((chunk) => chunk?.choices?.[0])
    .map((choice) => (choice?.index > 0 ? choice.delta?.content : ''))
    .filter((text) => typeof text === 'string')
    .join('');

const isSubsequence = (some: string, all: string): boolean => {
  let found = 0;
  for (let at = 0; at < all.length && found < some.length; at += 1) if (all[at] === some[found]) found += 1;
  return found === some.length;
};

const isEmptyReasonIn = (chunks: readonly Chunk[]): boolean =>
  chunks.some((chunk) => chunk?.choices?.[0]?.finish_reason === '');

const DIFFERENCES: readonly Difference[] = [
  {
    in: 'error',
    reason: 'the package fails at a chunk that it does not expect; Troupe ignores the chunk',
    applies: ({ ours, theirs }) => theirs.error !== undefined && (!ours.error || isNamedEnd(ours.error)),
  },
  {
    in: 'error',
    reason:
      'a call without a name is an error in words; the package drops its arguments, or fails with its own words',
    applies: ({ ours }) => isNameless(ours),
  },
  {
    in: 'text',
    reason: 'the package reads a choice that was not asked for',
    applies: ({ chunks, a, b }) =>
      b.text.length - a.text.length === otherChoices(chunks).length && isSubsequence(a.text, b.text),
  },
  {
    in: 'usage',
    reason: 'reasoning that is counted only in the total, as xAI does, is part of the completion',
    applies: ({ chunks }) =>
      chunks.some(({ usage: given }) => {
        const reasoned = given?.completion_tokens_details?.reasoning_tokens;
        return (
          reasoned > 0 && given.total_tokens === given.prompt_tokens + given.completion_tokens + reasoned
        );
      }),
  },
  {
    in: 'usage',
    reason: 'a count that is not reported is left out; the package reports 0',
    applies: ({ chunks }) =>
      chunks.some(
        ({ usage: given }) => given && (given.prompt_tokens == null || given.completion_tokens == null),
      ),
  },
  {
    in: 'usage',
    reason: 'a later report replaces the fields that it has; in the package it replaces all of them',
    applies: ({ chunks }) => chunks.filter(({ usage: given }) => given).length > 1,
  },
  {
    in: 'error',
    reason: 'an empty finish reason is none: an earlier one holds, and an answer without text is broken off',
    applies: ({ chunks }) => isEmptyReasonIn(chunks),
  },
  {
    in: 'stop',
    reason: 'an empty finish reason is none: an earlier one holds',
    applies: ({ chunks }) => isEmptyReasonIn(chunks),
  },
  {
    in: 'calls',
    reason: 'a delta without id and index continues the last call; the package drops it if there are several',
    applies: ({ chunks }) =>
      startsOf(chunks).length > 1 && callDeltas(chunks).some((delta) => !hasId(delta) && !hasIndex(delta)),
  },
  {
    in: 'calls',
    reason:
      'arguments ahead of their name belong to the call at their index; the package gives them to another call',
    applies: ({ chunks }) => areEarly(callDeltas(chunks)),
  },
];

const KEYS = ['text', 'reasoning', 'calls', 'usage', 'stop'] as const;

/** The reasons for the differences in a stream. @throws Error for an unexplained difference */
const explain = (given: Case): string[] => {
  const { ours, theirs, a, b } = given;
  const differ = ours.error?.class !== theirs.error?.class;
  const places = differ ? (['error'] as const) : KEYS.filter((key) => !isDeepStrictEqual(a[key], b[key]));
  // The output before a failure is only compared if there is none.
  if (!differ && ours.error) return [];
  return places.map((place) => {
    const row = DIFFERENCES.find((each) => each.in === place && each.applies(given));
    if (row) return row.reason;
    throw new Error(
      `${place}: ${JSON.stringify(a)} ${ours.error} is not ${JSON.stringify(b)} ${theirs.error}`,
    );
  });
};

const compare = async (
  chunks: readonly Chunk[],
  wire: ReturnType<typeof openaiChatWire>,
  create: Parameters<typeof theirs>[0],
  met: Map<string, number>,
): Promise<void> => {
  const ours: Read = decode(wire, unnamed([...chunks, '[DONE]']));
  const expected = await theirs(create, asEvents(chunks));
  const ids = new Set(callDeltas(chunks).map((delta) => delta?.id));
  const [a, b] = [summaryOf(ours, ids), summaryOf(expected, ids)];
  for (const reason of explain({ chunks, ours, theirs: expected, a, b })) {
    met.set(reason, (met.get(reason) ?? 0) + 1);
  }
};

for (const [name, wire, create, fields] of [
  ['compatible', openaiChatWire(FOREIGN_CHAT), compatible, true],
  ['openai', openaiChatWire(OPENAI_CHAT), openai, false],
] as const) {
  const fitting = fields ? answer : answer.map((each) => ({ ...each, reasoning: [] }));
  t.test(`${name}: reads a stream of the documented form like the package`, async (t) => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fitting, (given) => compare(streamOf(given), wire, create, met)),
      { numRuns: RUNS / 4 },
    );
    t.comment(Object.fromEntries(met));
  });

  t.test(`${name}: reads a damaged stream like the package or better`, async (t) => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fitting, fc.array(damage, { minLength: 1, maxLength: 3 }), (given, all) =>
        compare(all.reduce(damaged, streamOf(given)), wire, create, met),
      ),
      { numRuns: RUNS / 4 },
    );
    t.comment(Object.fromEntries(met));
  });
}
