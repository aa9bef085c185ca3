import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import fc from '../../random.ts';
import { type Decoded, decode, type Sent, unnamed } from './decode.ts';
import { packageDecodes } from './gemini-package.ts';

/**
 * Compares the Gemini decoder with the provider package, on streams of the documented grammar and on the same streams
 * with errors. Each disagreement has a row in `DIFFERENCES` that states why Troupe is right.
 */

/** `TROUPE_ORACLE_RUNS`: number of streams; 100,000 take about ten minutes. */
const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 2000);

const wire = geminiWire({ platform: 'gemini' });

/** The fields on which both must agree; ids are random, and the order of texts and calls within one event differs. */
const essenceOf = ({ heard, parts, sources, end, error }: Decoded) => {
  const joined = (kind: string): string => heard.map(([each, text]) => (each === kind ? text : '')).join('');
  const names = new Map(heard.flatMap(([kind, id, name]) => (kind === 'start' ? [[id, name]] : [])));
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: heard.flatMap(([kind, id, args]) => (kind === 'end' ? [[names.get(id), args]] : [])),
    parts,
    sources: sources.map(({ id: _, ...source }) => source),
    stop: end?.stop,
    usage: end?.usage ?? error?.usage,
    error: error?.class,
  };
};
type Essence = ReturnType<typeof essenceOf>;

type Difference = {
  name: string;
  /** Why Troupe is right. */
  reason: string;
  events: JsonObject[];
  ours: Partial<Essence>;
  theirs: Partial<Essence>;
  /** Fields that may differ for such a stream. */
  fields: (keyof Essence)[];
  applies(chunks: readonly JsonObject[]): boolean;
};

const chunk = (parts: Json[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
});
const candidatesOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  chunks.flatMap(({ candidates }) => (Array.isArray(candidates) ? candidates : [])).filter(isRecord);
const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const partsOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  candidatesOf(chunks)
    .flatMap(({ content }) => (isRecord(content) && Array.isArray(content.parts) ? content.parts : []))
    .filter(isRecord);
const callsOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  partsOf(chunks)
    .map(({ functionCall }) => functionCall)
    .filter(isRecord);

const NEWER =
  'LANGUAGE MODEL_ARMOR IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE NO_IMAGE IMAGE_OTHER'.split(
    ' ',
  );
/** Finish reasons with a meaning for Troupe or for the package. */
const KNOWN = [
  ...NEWER,
  ...'STOP MAX_TOKENS CONTINUATION SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MALFORMED_FUNCTION_CALL'.split(
    ' ',
  ),
];
const hasFinish = (chunks: readonly JsonObject[], reasons: readonly string[]): boolean =>
  candidatesOf(chunks).some(({ finishReason }) => reasons.includes(String(finishReason)));

const DIFFERENCES: Difference[] = [
  {
    name: 'reasons that the package does not know',
    reason: 'no answer that was filtered or that failed counts as a success',
    events: [chunk([], { finishReason: 'UNEXPECTED_TOOL_CALL' })],
    ours: { error: 'provider', stop: undefined },
    theirs: { error: undefined, stop: 'EndTurn' },
    fields: ['error', 'stop', 'calls'],
    applies: (chunks) => hasFinish(chunks, NEWER),
  },
  {
    name: 'an end for another reason without an answer',
    reason: 'an empty answer is a failure that may pass',
    events: [chunk([], { finishReason: 'OTHER' })],
    ours: { error: 'provider', stop: undefined },
    theirs: { error: undefined, stop: 'EndTurn' },
    fields: ['error', 'stop'],
    applies: (chunks) =>
      candidatesOf(chunks).some(
        ({ finishReason }) => typeof finishReason === 'string' && !KNOWN.includes(finishReason),
      ),
  },
  {
    name: 'no reason, or one that is not specified',
    reason:
      'a body that ended in order is an answer, if it holds anything; the default of an enumeration says nothing',
    events: [chunk([{ text: 'Hello' }])],
    ours: { error: undefined, stop: 'EndTurn' },
    theirs: { error: 'stream_interrupted', stop: undefined },
    fields: ['error', 'stop', 'calls', 'usage'],
    applies: (chunks) =>
      hasFinish(chunks, ['FINISH_REASON_UNSPECIFIED', '']) ||
      !candidatesOf(chunks).some(({ finishReason }) => typeof finishReason === 'string'),
  },
  {
    name: 'code that the provider has executed',
    reason: 'it is no call that Troupe has to execute',
    events: [
      chunk([{ executableCode: { language: 'PYTHON', code: 'print(1)' } }, { text: '1' }], {
        finishReason: 'STOP',
      }),
    ],
    ours: { calls: [], stop: 'EndTurn' },
    theirs: { calls: [['code_execution', '{"language":"PYTHON","code":"print(1)"}']], stop: 'ToolUse' },
    // A completion with output fails with another error, and calls that the provider executed count as output.
    fields: ['calls', 'stop', 'error'],
    applies: (chunks) =>
      partsOf(chunks).some((part) =>
        ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'].some((key) => key in part),
      ),
  },
  {
    name: 'details of usage that a later event leaves out',
    reason: 'tokens that were reported have been used',
    events: [
      { ...chunk([{ text: 'Hi' }]), usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: 2 } },
      {
        ...chunk([], { finishReason: 'STOP' }),
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 },
      },
    ],
    ours: { usage: { prompt_tokens: 5, completion_tokens: 3, thinking_tokens: 2, total_tokens: 8 } },
    theirs: { usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
    fields: ['usage'],
    applies: (chunks) => chunks.filter(({ usageMetadata }) => usageMetadata != null).length > 1,
  },
  {
    name: 'usage without a number of tokens',
    reason: 'what is not reported is not 0',
    events: [{ ...chunk([{ text: 'Hi' }], { finishReason: 'STOP' }), usageMetadata: { totalTokenCount: 7 } }],
    ours: { usage: undefined },
    theirs: { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    fields: ['usage'],
    applies: (chunks) =>
      chunks.some(
        ({ usageMetadata: usage }) =>
          isRecord(usage) &&
          [usage.promptTokenCount, usage.candidatesTokenCount, usage.thoughtsTokenCount].some(
            (count) => !(Number.isSafeInteger(count) && Number(count) >= 0),
          ),
      ),
  },
  {
    name: 'an error whose code is no status of HTTP',
    reason: 'its name says what it is',
    events: [{ error: { code: 14, message: 'Words.', status: 'UNAVAILABLE' } }],
    ours: { error: 'overloaded' },
    theirs: { error: 'provider' },
    fields: ['error'],
    applies: (chunks) =>
      chunks.some(({ error }) => isRecord(error) && typeof error.code === 'number' && error.code < 400),
  },
  {
    name: 'documents that an answer is grounded in',
    reason: 'the package reports them in answers that are not streamed only',
    events: [
      chunk([{ text: 'Hi' }], {
        finishReason: 'STOP',
        groundingMetadata: { groundingChunks: [{ retrievedContext: { uri: 'gs://a/b.pdf', title: 'B' } }] },
      }),
    ],
    ours: { sources: [{ type: 'document', media_type: 'application/pdf', title: 'B', filename: 'b.pdf' }] },
    theirs: { sources: [] },
    // A completion with output fails with another error.
    fields: ['sources', 'error', 'stop'],
    applies: (chunks) => JSON.stringify(chunks).includes('retrievedContext'),
  },
  {
    name: 'a source without an address',
    reason: 'it leads nowhere',
    events: [
      chunk([{ text: 'Hi' }], {
        finishReason: 'STOP',
        groundingMetadata: { groundingChunks: [{ web: { uri: '', title: 'A' } }] },
      }),
    ],
    ours: { sources: [] },
    theirs: { sources: [{ type: 'url', url: '', title: 'A' }] },
    fields: ['sources', 'error', 'stop'],
    applies: (chunks) =>
      candidatesOf(chunks).some(({ groundingMetadata }) =>
        /"(?:web|image|maps)":\{[^}]*"(?:uri|sourceUri)":""/.test(JSON.stringify(groundingMetadata)),
      ),
  },
  {
    name: 'calls with one id',
    reason: 'each call needs a result, so each has an id that is unique in the answer',
    events: [
      chunk(
        [1, 2].map((n) => ({ functionCall: { name: `f${n}`, id: 'x', args: { n } } })),
        { finishReason: 'STOP' },
      ),
    ],
    ours: {
      calls: [
        ['f1', '{"n":1}'],
        ['f2', '{"n":2}'],
      ],
    },
    theirs: {
      calls: [
        ['f1', '{"n":1}'],
        ['f1', '{"n":2}'],
      ],
    },
    fields: ['calls'],
    applies: (chunks) => {
      const ids = callsOf(chunks).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
      return new Set(ids).size < ids.length;
    },
  },
  {
    name: 'a call without a name',
    reason: 'the model learns of its mistake',
    events: [chunk([{ functionCall: { args: { n: 1 } } }], { finishReason: 'STOP' })],
    ours: { calls: [['', '{"n":1}']], stop: 'ToolUse' },
    theirs: { calls: [], stop: 'EndTurn' },
    fields: ['calls', 'stop', 'error'],
    applies: (chunks) => callsOf(chunks).some(({ name }) => typeof name !== 'string'),
  },
  {
    name: 'candidates after the first',
    reason: 'one answer is asked for, and a second one is not joined with it',
    events: [
      { candidates: [{ index: 1, content: { parts: [{ text: 'no' }] } }] },
      chunk([{ text: 'Hi' }], { finishReason: 'STOP' }),
    ],
    ours: { text: 'Hi' },
    theirs: { text: 'noHi' },
    fields: ['text', 'reasoning', 'calls', 'parts', 'sources', 'stop', 'error'],
    applies: (chunks) => candidatesOf(chunks).some(({ index }) => index != null && index !== 0),
  },
  {
    name: 'parts that have several kinds of content',
    reason: 'the schema of the package keeps the first kind and drops the others, in another order',
    events: [
      chunk([{ text: 'Hi', executableCode: null, inlineData: { mimeType: 'image/png', data: 'AAAA' } }], {
        finishReason: 'STOP',
      }),
    ],
    ours: { text: '', parts: [{ file: 'AAAA', media_type: 'image/png' }] },
    theirs: { text: '', parts: [{ file: 'AAAA', media_type: 'image/png' }] },
    fields: ['text', 'reasoning', 'parts', 'calls', 'stop', 'error'],
    applies: (chunks) =>
      partsOf(chunks).some(
        (part) => ['text', 'functionCall', 'inlineData'].filter((key) => part[key] != null).length > 1,
      ),
  },
];

for (const { name, reason, events, ours, theirs, applies } of DIFFERENCES) {
  t.test(`${name}: ${reason}`, async (t) => {
    const mine = essenceOf(decode(wire, unnamed(events)));
    const other = essenceOf(await packageDecodes(unnamed(events)));
    t.strictSame({ ...mine, ...ours }, mine);
    t.strictSame({ ...other, ...theirs }, other);
    t.ok(applies(events));
  });
}

t.test('ignores an event with a shape that the package rejects', async (t) => {
  const events = unnamed([chunk([{ text: 7 }]), chunk([{ text: 'Hi' }], { finishReason: 'STOP' })]);
  const theirs = await packageDecodes(events);
  t.ok(theirs.unfit && theirs.error, 'the package ends the completion');
  t.match(
    essenceOf(decode(wire, events)),
    { text: 'Hi', stop: 'EndTurn' },
    'the event is ignored, and later ones are read',
  );
});

const text = fc.oneof(fc.constantFrom('', ' ', '\n', 'Hello', 'Grüße 👋🏽'), fc.string({ maxLength: 12 }));
const signature = fc.option(fc.constantFrom('c2ln', 'AAAA'), { nil: undefined });
const signed = (part: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(part, signature).map(([each, thoughtSignature]) => ({
    ...each,
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  }));
const args = fc.oneof(
  fc.constant({}),
  fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(fc.integer(), text, fc.constant(null)), { maxKeys: 3 }),
) as fc.Arbitrary<JsonObject>;
const part: fc.Arbitrary<JsonObject> = fc.oneof(
  { arbitrary: signed(text.map((each) => ({ text: each }))), weight: 6 },
  { arbitrary: signed(text.map((each) => ({ text: each, thought: true }))), weight: 2 },
  {
    arbitrary: signed(
      fc
        .record({ name: fc.constantFrom('look', 'get_weather'), args, id: fc.nat().map((n) => `c${n}`) })
        .chain(({ id, ...call }) =>
          fc.constantFrom<JsonObject>(
            { functionCall: call },
            { functionCall: { name: call.name } },
            { functionCall: { ...call, id } },
          ),
        ),
    ),
    weight: 3,
  },
  { arbitrary: fc.constant({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }), weight: 1 },
  {
    arbitrary: fc.constantFrom<JsonObject>(
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      {},
    ),
    weight: 1,
  },
);
const count = fc.nat(5000);
const usage = fc.record(
  {
    promptTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
    cachedContentTokenCount: count,
    totalTokenCount: count,
  },
  { requiredKeys: ['promptTokenCount'] },
) as fc.Arbitrary<JsonObject>;
const grounding: fc.Arbitrary<JsonObject> = fc
  .array(
    fc.constantFrom<JsonObject>(
      { web: { uri: 'https://a.example', title: 'A' } },
      { web: { uri: 'https://b.example' } },
      { maps: { uri: 'https://m.example', title: 'M' } },
      { retrievedContext: { uri: 'gs://a/b.pdf', title: 'B' } },
    ),
    { maxLength: 3 },
  )
  .map((groundingChunks) => ({ groundingChunks }));
const event = fc
  .record(
    {
      parts: fc.array(part, { maxLength: 4 }),
      usageMetadata: usage,
      groundingMetadata: grounding,
    },
    { requiredKeys: ['parts'] },
  )
  .map(({ parts, usageMetadata, groundingMetadata }) => ({
    ...chunk(parts, { ...(groundingMetadata && { groundingMetadata }) }),
    ...(usageMetadata && { usageMetadata }),
  }));
const REASONS =
  'STOP STOP STOP STOP MAX_TOKENS SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MALFORMED_FUNCTION_CALL OTHER CONTINUATION LANGUAGE'.split(
    ' ',
  );
const stream = fc
  .tuple(
    fc.array(event, { maxLength: 5 }),
    fc.array(part, { maxLength: 2 }),
    fc.option(fc.constantFrom(...REASONS), { nil: undefined, freq: 12 }),
    fc.option(usage, { nil: undefined }),
    fc.option(
      fc.constantFrom<JsonObject>(
        { promptFeedback: { blockReason: 'SAFETY' } },
        { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } },
        { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } },
        { error: { code: null, message: 'Words.', status: 'RESOURCE_EXHAUSTED' } },
        { error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } },
      ),
      { nil: undefined, freq: 8 },
    ),
    fc.nat(6),
  )
  .map(([events, last, finishReason, usageMetadata, extra, at]) => {
    const all: JsonObject[] = [
      ...events,
      {
        ...chunk(last, finishReason === undefined ? {} : { finishReason }),
        ...(usageMetadata && { usageMetadata }),
      },
    ];
    if (extra) all.splice(Math.min(at, all.length), 0, extra);
    return all;
  });

/** Both decoders agree except in the fields of applicable differences. Returns whether the package read the stream. */
const compare = async (events: readonly Sent[]): Promise<boolean> => {
  const mine = essenceOf(decode(wire, events));
  const theirs = await packageDecodes(events);
  if (theirs.unfit) return false;
  const chunks = events.flatMap(([, data]) => {
    const json: unknown = JSON.parse(data);
    return isRecord(json) ? [json] : [];
  });
  const may = new Set(DIFFERENCES.filter(({ applies }) => applies(chunks)).flatMap(({ fields }) => fields));
  const other = essenceOf(theirs);
  const differing = Object.keys(mine).filter((key) => {
    const field = key as keyof Essence;
    return !may.has(field) && !isDeepStrictEqual(mine[field], other[field]);
  });
  if (differing.length > 0)
    throw new Error(
      `${differing}\nTroupe: ${JSON.stringify(mine)}\npackage: ${JSON.stringify(other)}\n${JSON.stringify(chunks)}`,
    );
  return true;
};

t.test('reads streams of the grammar like the package', async () => {
  await fc.assert(
    fc.asyncProperty(stream, async (events) => {
      await compare(unnamed(events));
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

const value = fc.constantFrom<Json>(null, 7, -1, 'x', '', [], {}, true, ['y'], { z: 1 });

/** Sets a value at the position in the event that the numbers select. */
const setAt = (json: JsonObject, path: readonly number[], given: Json): void => {
  let at: object = json;
  for (const [depth, step] of path.entries()) {
    const keys: string[] = Object.keys(at);
    const key: string | undefined = keys[step % Math.max(1, keys.length)];
    if (key === undefined) return;
    const inner: unknown = Reflect.get(at, key);
    if (typeof inner === 'object' && inner !== null && depth + 1 < path.length) at = inner;
    else {
      Reflect.set(at, key, given);
      return;
    }
  }
};

const mutation = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(6) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(6) }),
  fc.record({ kind: fc.constant('swap' as const), at: fc.nat(6) }),
  fc.record({ kind: fc.constant('add' as const), at: fc.nat(6), value }),
  fc.record({ kind: fc.constant('field' as const), at: fc.nat(6), value }),
  fc.record({
    kind: fc.constant('set' as const),
    at: fc.nat(6),
    path: fc.array(fc.nat(5), { minLength: 1, maxLength: 7 }),
    value,
  }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer Each> ? Each : never;

const mutate = (given: readonly JsonObject[], changes: readonly Mutation[]): Json[] => {
  const events: Json[] = structuredClone([...given]);
  for (const change of changes.map((each) => structuredClone(each))) {
    const at = change.at % Math.max(1, events.length);
    const chosen = events[at];
    if (change.kind === 'drop') events.splice(at, 1);
    else if (change.kind === 'repeat' && chosen !== undefined) events.splice(at, 0, structuredClone(chosen));
    else if (change.kind === 'swap' && chosen !== undefined) events.push(...events.splice(at, 1));
    else if (change.kind === 'add') events.splice(at, 0, { future_event: change.value });
    else if (isRecord(chosen) && change.kind === 'field') chosen.future_field = change.value;
    else if (isRecord(chosen) && change.kind === 'set') setAt(chosen, change.path, change.value);
  }
  return events;
};

t.test('reads streams with errors like the package, if the package reads them at all', async (t) => {
  let read = 0;
  let all = 0;
  await fc.assert(
    fc.asyncProperty(stream, fc.array(mutation, { minLength: 1, maxLength: 3 }), async (events, changes) => {
      all += 1;
      const changed = mutate(events, changes).map((each): Sent => ['', JSON.stringify(each)]);
      if (await compare(changed)) read += 1;
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
  t.ok(read > all / 4, `the package has read ${read} of ${all}`);
});
