import t from 'tap';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import type { AnswerWriter } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Decoded, decode, type Sent, SILENT, unnamed } from './decode.ts';

/** The Gemini decoder on exact streams. */

const wire = geminiWire({ platform: 'gemini' });

const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
});
const STOP = { finishReason: 'STOP' };
const ended = (parts: JsonObject[]): JsonObject => chunk(parts, STOP);
const say = (text: string): JsonObject => ({ text });
const call = (name: string, more: JsonObject = {}): JsonObject => ({ functionCall: { name, ...more } });

const heardIn = (events: readonly (JsonObject | string)[]): Decoded => decode(wire, unnamed(events));
const textIn = ({ heard }: Decoded): string =>
  heard.map(([kind, text]) => (kind === 'text' ? text : '')).join('');

type Row = { name: string; events: (JsonObject | string)[]; expected: Partial<Decoded> };

const HELLO = chunk([say('Hello')]);
const heardHello = [['text', 'Hello']] as Decoded['heard'];
const endTurn = { stop: 'EndTurn' } as const;

const rows: Row[] = [
  {
    name: 'joins the parts of several events',
    events: [chunk([say('He'), say('ll')]), ended([say('o')])],
    expected: {
      heard: [
        ['text', 'He'],
        ['text', 'll'],
        ['text', 'o'],
      ],
      end: endTurn,
    },
  },
  {
    name: 'ignores parts without text, without content and without parts',
    events: [
      chunk([{}, say(''), { text: null }, { fileData: { fileUri: 'gs://a' } }]),
      { candidates: [{ index: 0 }] },
      { candidates: [{ content: {} }] },
      { candidates: [{ content: { parts: null } }] },
      { candidates: [] },
      { candidates: null },
      {},
      HELLO,
      ended([]),
    ],
    expected: { heard: heardHello, end: endTurn },
  },
  {
    name: 'ignores events that are unknown, of another type, or no JSON',
    events: [
      'ping',
      '{"half',
      '[]',
      '7',
      'null',
      { futureEvent: true, candidates: 'many' },
      HELLO,
      ended([]),
    ],
    expected: { heard: heardHello, end: endTurn },
  },
  {
    name: 'ignores fields of another type',
    events: [
      chunk([{ text: 7 }, { functionCall: 'x' }, { inlineData: [] }, { inlineData: { data: 'AAAA' } }]),
      { ...HELLO, usageMetadata: 'none', promptFeedback: 'good', error: null },
      chunk([], { finishReason: 'STOP', groundingMetadata: 'x', finishMessage: 5 }),
    ],
    expected: { heard: heardHello, end: endTurn },
  },
  {
    name: 'reads the first of several candidates',
    events: [
      {
        candidates: [null, { index: 1, content: { parts: [say('other')] }, finishReason: 'SAFETY' }],
      },
      {
        candidates: [
          { index: 1, content: { parts: [say('no')] } },
          { index: 0, content: { parts: [say('Hello')] } },
        ],
      },
      ended([]),
    ],
    expected: { heard: heardHello, end: endTurn },
  },
  {
    name: 'reports thoughts as reasoning',
    events: [chunk([{ text: 'Hm.', thought: true }, say('Hello')]), ended([])],
    expected: { heard: [['reasoning', 'Hm.'], ...heardHello], items: [], end: endTurn },
  },
  {
    name: 'keeps the signature of a thought, and shows it',
    events: [chunk([{ text: 'Hm.', thought: true, thoughtSignature: 's' }]), ended([say('Hello')])],
    expected: {
      heard: [['reasoning', 'Hm.'], ['encrypted', 's'], ...heardHello],
      items: [{ text: 'Hm.', thought: true, thoughtSignature: 's' }],
    },
  },
  {
    name: 'keeps the signature of a text, and of an empty text at the end',
    events: [chunk([{ text: 'Hello', thoughtSignature: 'a' }]), ended([{ text: '', thoughtSignature: 'b' }])],
    expected: {
      heard: heardHello,
      items: [
        { thoughtSignature: 'a', length: 5 },
        { thoughtSignature: 'b', length: 0 },
      ],
      end: endTurn,
    },
  },
  {
    name: 'keeps the signature of a part without anything else',
    events: [HELLO, ended([{ thoughtSignature: 'b' }])],
    expected: { heard: heardHello, items: [{ thoughtSignature: 'b', length: 0 }] },
  },
  {
    name: 'takes an empty signature for none',
    events: [chunk([{ text: 'Hello', thoughtSignature: '' }]), ended([{ thoughtSignature: null }])],
    expected: { heard: heardHello, items: [] },
  },
  {
    name: 'reports a call with its id, although the reason is STOP',
    events: [ended([call('look', { id: 'c1', args: { q: 'x' } })])],
    expected: {
      heard: [
        ['start', 'c1', 'look'],
        ['delta', 'c1', '{"q":"x"}'],
        ['end', 'c1', '{"q":"x"}'],
      ],
      end: { stop: 'ToolUse' },
    },
  },
  {
    name: 'reports a call without arguments',
    events: [
      ended([
        call('now', { id: 'a' }),
        call('now', { id: 'b', args: null }),
        call('now', { id: 'c', args: {} }),
      ]),
    ],
    expected: {
      heard: [
        ['start', 'a', 'now'],
        ['start', 'b', 'now'],
        ['start', 'c', 'now'],
        ['delta', 'c', '{}'],
        ['end', 'a', '{}'],
        ['end', 'b', '{}'],
        ['end', 'c', '{}'],
      ],
      end: { stop: 'ToolUse' },
    },
  },
  {
    name: 'reports arguments that are a text as they are, and others as JSON',
    events: [
      ended([
        call('f', { id: 'a', args: '{"q":1}' }),
        call('f', { id: 'b', args: '{"q":' }),
        call('f', { id: 'c', args: ['Paris'] }),
      ]),
    ],
    expected: {
      heard: [
        ['start', 'a', 'f'],
        ['delta', 'a', '{"q":1}'],
        ['end', 'a', '{"q":1}'],
        ['start', 'b', 'f'],
        ['delta', 'b', '{"q":'],
        ['start', 'c', 'f'],
        ['delta', 'c', '["Paris"]'],
        ['end', 'b', '{"q":'],
        ['end', 'c', '["Paris"]'],
      ],
    },
  },
  {
    name: 'keeps the order of texts and calls in one list of parts',
    events: [
      ended([
        say('a'),
        call('f', { id: '1', args: { n: 1 } }),
        say('b'),
        call('g', { id: '2', args: { n: 2 } }),
      ]),
    ],
    expected: {
      heard: [
        ['text', 'a'],
        ['start', '1', 'f'],
        ['delta', '1', '{"n":1}'],
        ['end', '1', '{"n":1}'],
        ['text', 'b'],
        ['start', '2', 'g'],
        ['delta', '2', '{"n":2}'],
        ['end', '2', '{"n":2}'],
      ],
    },
  },
  {
    name: 'ignores an empty call, and reports one without a name',
    events: [ended([{ functionCall: {} }, { functionCall: { id: 'x', args: { q: 1 } } }])],
    expected: {
      heard: [
        ['start', 'x', ''],
        ['delta', 'x', '{"q":1}'],
        ['end', 'x', '{"q":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  },
  {
    name: 'keeps code that the provider has executed, and its own calls',
    events: [
      chunk([
        { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 's' },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { toolCall: { toolType: 'GOOGLE_SEARCH', id: 't', args: {} } },
        { toolResponse: { toolType: 'GOOGLE_SEARCH', id: 't', response: {} } },
        say('Hello'),
      ]),
      ended([]),
    ],
    expected: {
      heard: heardHello,
      items: [
        { part: { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 's' } },
        { part: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } } },
        { part: { toolCall: { toolType: 'GOOGLE_SEARCH', id: 't', args: {} } } },
        { part: { toolResponse: { toolType: 'GOOGLE_SEARCH', id: 't', response: {} } } },
      ],
      end: endTurn,
    },
  },
  {
    name: 'reports inline data as a file',
    events: [
      ended([say('Hello'), { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 's' }]),
    ],
    expected: { heard: heardHello, parts: [{ file: 'AAAA', media_type: 'image/png' }], items: [] },
  },
  {
    name: 'reports usage of the last event, with thoughts and cache',
    events: [
      HELLO,
      {
        ...ended([]),
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 4,
          cachedContentTokenCount: 8,
          totalTokenCount: 17,
        },
      },
    ],
    expected: {
      end: {
        stop: 'EndTurn',
        usage: {
          prompt_tokens: 10,
          completion_tokens: 7,
          cache_read_tokens: 8,
          thinking_tokens: 4,
          total_tokens: 17,
        },
      },
    },
  },
  {
    name: 'replaces usage that comes with each event, and reads it after the end',
    events: [
      { ...HELLO, usageMetadata: { promptTokenCount: 10 } },
      { ...ended([]), usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1 } },
      { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 } },
      { usageMetadata: {} },
      { usageMetadata: { promptTokenCount: -1, candidatesTokenCount: 'many', thoughtsTokenCount: null } },
    ],
    expected: {
      heard: heardHello,
      end: { stop: 'EndTurn', usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } },
    },
  },
  {
    name: 'ends at the word of a service that translates',
    events: [HELLO, ended([]), '[DONE]', chunk([say('never read')])],
    expected: { heard: heardHello, end: endTurn },
  },
  {
    name: 'takes a reason that is not specified for none',
    events: [
      chunk([say('Hello')], { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
      chunk([], { finishReason: '' }),
    ],
    expected: { heard: heardHello, end: { stop: 'EndTurn', cutShort: true } },
  },
  {
    name: 'does not count a reason for a block that is not specified',
    events: [{ promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }, HELLO, ended([])],
    expected: { heard: heardHello, end: endTurn },
  },
];
for (const { name, events, expected } of rows) {
  t.test(name, async (t) => {
    const found = heardIn(events);
    t.equal(found.error, undefined);
    t.strictSame({ ...found, ...expected }, found);
  });
}

t.test('generates ids for calls without one, and for those with a duplicate', async (t) => {
  const { heard } = heardIn([
    chunk([
      call('f', { args: { n: 1 } }),
      call('f', { args: { n: 2 } }),
      call('g', { id: '', args: { n: 3 } }),
    ]),
    ended([call('f', { id: 'x', args: { n: 4 } }), call('f', { id: 'x', args: { n: 5 } })]),
  ]);
  const ids = heard.filter(([kind]) => kind === 'start').map(([, id]) => id);
  t.equal(new Set(ids).size, 5);
  t.equal(ids[3], 'x');
  for (const id of ids) t.match(id, /^[A-Za-z0-9_-]{1,64}$/);
  t.strictSame(
    heard.flatMap(([kind, , args]) => (kind === 'end' ? [args] : [])),
    [1, 2, 3, 4, 5].map((n) => JSON.stringify({ n })),
  );
});

t.test('reports the signature of each call before the call', async (t) => {
  const order: unknown[] = [];
  const note = (...entry: unknown[]): void => void order.push(entry);
  const writer: AnswerWriter = {
    ...SILENT,
    text: (delta) => note('text', delta),
    reasoningItem: (item) => note('item', item),
    callStart: (id) => note('start', id),
    callEnd: (id) => note('end', id),
  };
  const decoder = wire.decoder(writer);
  for (const [name, data] of unnamed([
    chunk([{ text: 'Hi', thoughtSignature: 'a' }]),
    ended([{ ...call('f', { id: '1' }), thoughtSignature: 'b' }, call('f', { id: '2' })]),
  ]))
    decoder.push(name, data);
  t.strictSame(order, [
    ['item', { thoughtSignature: 'a', length: 2 }],
    ['text', 'Hi'],
    ['item', { thoughtSignature: 'b' }],
    ['start', '1'],
    ['end', '1'],
    ['start', '2'],
    ['end', '2'],
  ]);
});

const reasons: [reason: string, stop: string][] = [
  ['STOP', 'EndTurn'],
  ['MAX_TOKENS', 'MaxTokens'],
  ['CONTINUATION', 'MaxTokens'],
  ['OTHER', 'EndTurn'],
  ['SOMETHING_NEW', 'EndTurn'],
];
for (const [finishReason, stop] of reasons) {
  t.test(`maps ${finishReason} after text to ${stop}`, async (t) => {
    t.strictSame(heardIn([HELLO, chunk([], { finishReason })]).end, { stop });
  });
}

const FILTERED =
  'SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION';
for (const finishReason of FILTERED.split(' ')) {
  t.test(`reports ${finishReason} as content_filtered`, async (t) => {
    const found = heardIn([HELLO, chunk([], { finishReason }), { usageMetadata: { promptTokenCount: 3 } }]);
    t.match(found.error, { class: 'content_filtered', message: `content filtered: ${finishReason}` });
    t.strictSame(found.error?.usage, { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 });
    const said = heardIn([chunk([], { finishReason, finishMessage: 'Try something else.' })]);
    t.equal(said.error?.message, `content filtered: ${finishReason}: Try something else.`);
  });
}

const FAILED =
  'MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE NO_IMAGE IMAGE_OTHER';
for (const finishReason of FAILED.split(' ')) {
  t.test(
    `reports ${finishReason} as a transient failure, with the explanation of the provider`,
    async (t) => {
      const { error } = heardIn([chunk([], { finishReason, finishMessage: 'Malformed call: print(f())' })]);
      t.match(error, { class: 'provider', transient: true });
      t.equal(
        error?.message,
        `provider error: the model stopped with ${finishReason}: Malformed call: print(f())`,
      );
    },
  );
}

t.test('reports an end for an unknown reason without output as a failure', async (t) => {
  for (const finishReason of ['OTHER', 'SOMETHING_NEW'])
    t.match(heardIn([chunk([], { finishReason })]).error, { class: 'provider', transient: true });
});

t.test('ignores the rest of a stream whose prompt was blocked', async (t) => {
  const block = (more: JsonObject): JsonObject => ({
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT', ...more },
  });
  const found = heardIn([block({}), HELLO, ended([]), { usageMetadata: { promptTokenCount: 5 } }]);
  t.strictSame(found.heard, []);
  t.match(found.error, { class: 'content_filtered', message: 'content filtered: PROHIBITED_CONTENT' });
  t.strictSame(found.error?.usage, { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 });
  t.equal(
    heardIn([block({ blockReasonMessage: 'Not here.' })]).error?.message,
    'content filtered: PROHIBITED_CONTENT: Not here.',
  );
});

t.test('handles a stream without a finish reason', async (t) => {
  t.match(heardIn([]).error, { class: 'stream_interrupted' });
  t.match(heardIn(['{"half']).error, { class: 'stream_interrupted' });
  t.strictSame(heardIn([HELLO]).end, { stop: 'EndTurn', cutShort: true });
});

t.test('is finished once the finish reason arrives', async (t) => {
  const decoder = wire.decoder({ ...silent, hasBegun: () => false });
  t.equal(decoder.isFinished(), false);
  decoder.push('', JSON.stringify(HELLO));
  t.equal(decoder.isFinished(), false);
  t.equal(decoder.push('', JSON.stringify(ended([]))), false, 'usage may follow the finish reason');
  t.equal(decoder.isFinished(), true);
  t.equal(decoder.push('', '[DONE]'), true);
  const blocked = wire.decoder(silent);
  blocked.push('', '{"promptFeedback":{"blockReason":"SAFETY"}}');
  t.equal(blocked.isFinished(), true);
});

const silent: AnswerWriter = { ...SILENT, hasBegun: () => false };

t.test('pauses when the completion exceeds the limit of one request', async (t) => {
  const decoder = wire.decoder(silent);
  const last = chunk([say('Hello')], { finishReason: 'CONTINUATION', continuationToken: 'more' });
  decoder.push('', JSON.stringify(chunk([], { continuationToken: 'earlier' })));
  decoder.push('', JSON.stringify(last));
  t.strictSame(decoder.end(), {
    reason: 'paused',
    raw: 'CONTINUATION',
    pause: { continuationToken: 'more' },
  });
});

type Failure = { name: string; events: Sent[]; kind: string; message: string; status?: number };
const error = (status: string, code?: number, message = 'Words.'): string =>
  JSON.stringify({ error: { message, status, ...(code !== undefined && { code }) } });
const hello: Sent = ['', JSON.stringify(HELLO)];
const failures: Failure[] = [
  {
    name: 'an error first',
    events: [['', error('UNAVAILABLE', 503)]],
    kind: 'overloaded',
    message: 'provider overloaded: Words.',
    status: 503,
  },
  {
    name: 'an error without a code',
    events: [['', error('RESOURCE_EXHAUSTED')]],
    kind: 'rate_limited',
    message: 'rate limited: Words.',
    status: 429,
  },
  {
    name: 'an error that stays',
    events: [hello, ['', error('INVALID_ARGUMENT', 400)]],
    kind: 'invalid_request',
    message: 'invalid request: Words.',
    status: 400,
  },
  {
    name: 'a full context',
    events: [['', error('INVALID_ARGUMENT', 400, 'The input is too long.')]],
    kind: 'context_overflow',
    message: 'context overflow: The input is too long.',
  },
  {
    name: 'an error after text',
    events: [hello, ['', error('INTERNAL', 500)]],
    kind: 'stream_interrupted',
    message: 'stream interrupted (provider 500 mid-stream)',
    status: 500,
  },
  {
    name: 'an error after the end',
    events: [hello, ['', JSON.stringify(ended([]))], ['', error('UNAVAILABLE')]],
    kind: 'stream_interrupted',
    message: 'stream interrupted (provider 503 mid-stream)',
  },
  {
    name: 'an error in words',
    events: [['', '{"error":"rate limit reached"}']],
    kind: 'rate_limited',
    message: 'rate limited: rate limit reached',
  },
  {
    name: 'an event of errors',
    events: [['error', '{"message":"The server is overloaded"}']],
    kind: 'overloaded',
    message: 'provider overloaded: The server is overloaded',
  },
];
for (const { name, events, kind, message, status } of failures) {
  t.test(`classifies ${name} as ${kind}`, async (t) => {
    const found = decode(wire, events);
    t.equal(found.error?.message, message);
    t.equal(found.error?.class, kind);
    if (status !== undefined) t.equal(found.error?.status, status);
  });
}

t.test('rejects partial arguments, which no request asks for', async (t) => {
  const partial = { name: 'f', willContinue: true, partialArgs: [{ jsonPath: '$.q', stringValue: 'a' }] };
  t.match(heardIn([chunk([{ functionCall: partial }])]).error, { class: 'provider', transient: false });
});

t.test('reports each source in the grounding metadata once', async (t) => {
  const grounding = (groundingChunks: JsonObject[]): JsonObject =>
    chunk([], { groundingMetadata: { groundingChunks, webSearchQueries: ['q'] } });
  const web = { web: { uri: 'https://a.example/1', title: 'One' } };
  const { sources } = heardIn([
    HELLO,
    grounding([web]),
    grounding([
      web,
      { web: { uri: 'https://b.example/2' } },
      { web: { title: 'nowhere' } },
      { image: { sourceUri: 'https://c.example/page', imageUri: 'https://c.example/p.png', title: 'P' } },
      { maps: { uri: 'https://maps.example/3', title: 'Café' } },
      { maps: {} },
      { retrievedContext: { uri: 'https://d.example/4', title: 'Four' } },
      { retrievedContext: { uri: 'gs://bucket/a/report.PDF', title: 'Report' } },
      { retrievedContext: { uri: 'gs://bucket/b/data' } },
      { retrievedContext: { fileSearchStore: 'fileSearchStores/store-1', title: 'Notes' } },
      { future: { uri: 'https://e.example' } },
    ]),
    ended([]),
  ]);
  t.equal(new Set(sources.map(({ id }) => id)).size, sources.length);
  t.strictSame(
    sources.map(({ id: _, ...rest }) => rest),
    [
      { type: 'url', url: 'https://a.example/1', title: 'One' },
      { type: 'url', url: 'https://b.example/2' },
      { type: 'url', url: 'https://c.example/page', title: 'P' },
      { type: 'url', url: 'https://maps.example/3', title: 'Café' },
      { type: 'url', url: 'https://d.example/4', title: 'Four' },
      { type: 'document', media_type: 'application/pdf', title: 'Report', filename: 'report.PDF' },
      {
        type: 'document',
        media_type: 'application/octet-stream',
        title: 'Unknown Document',
        filename: 'data',
      },
      { type: 'document', media_type: 'application/octet-stream', title: 'Notes', filename: 'store-1' },
    ],
  );
});

t.test('reads a whole body as one object or as an array of chunks', async (t) => {
  const wholes: [body: unknown, isAnswer: boolean, text: string][] = [
    [ended([say('Hello')]), true, 'Hello'],
    [[chunk([say('Hel')]), ended([say('lo')])], true, 'Hello'],
    [[HELLO, { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }], false, ''],
    [{ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }, false, ''],
    [[], false, ''],
    [{}, false, ''],
    [null, false, ''],
    ['text', false, ''],
    [{ models: [] }, false, ''],
    [{ promptFeedback: { blockReason: 'SAFETY' } }, true, ''],
  ];
  for (const [body, isAnswer, text] of wholes) {
    let said = '';
    const decoder = wire.decoder({
      ...silent,
      text: (delta) => {
        said += delta;
      },
      fileAt: () => {},
      hasBegun: () => said !== '',
    });
    t.equal(decoder.whole(body), isAnswer, JSON.stringify(body));
    t.equal(said, text);
  }
});

t.test('reads a completion of many events with one byte each', async (t) => {
  const text = 'Grüße 👋🏽 '.repeat(200);
  const found = heardIn([...Array.from(text, (character) => chunk([say(character)])), ended([])]);
  t.equal(textIn(found), text);
});
