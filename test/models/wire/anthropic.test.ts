import t, { type Test } from 'tap';
import { BOUNDS } from '../../../src/models/bounds.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import type { Finish } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Decoded, decode, named, type Sent, SILENT } from './decode.ts';

/** Streams of the Messages protocol, event by event, and their decoding. */

const wire = anthropicWire();

type Event = JsonObject & { type: string };

const start = (message: JsonObject = { usage: { input_tokens: 3 } }): Event => ({
  type: 'message_start',
  message: { id: 'msg', ...message },
});
const block = (content_block: JsonObject, index = 0): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (piece: JsonObject, index = 0): Event => ({ type: 'content_block_delta', index, delta: piece });
const stop = (index = 0): Event => ({ type: 'content_block_stop', index });
const text = (words: string, index = 0): Event => delta({ type: 'text_delta', text: words }, index);
const json = (partial_json: string, index = 0): Event =>
  delta({ type: 'input_json_delta', partial_json }, index);
const end = (stop_reason: string | null = 'end_turn', more: JsonObject = {}): Event[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 2 },
    ...more,
  },
  { type: 'message_stop' },
];
const tool = (id = 'toolu_1', name = 'get', input: JsonObject[string] = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const hello = [block({ type: 'text', text: '' }), text('Hel'), text('lo'), stop()];

const cases: [name: string, events: Event[], expected: Partial<Decoded> | object][] = [
  [
    'text with a ping in it',
    [start(), { type: 'ping' }, ...hello, { type: 'ping' }, ...end()],
    {
      heard: [
        ['text', 'Hel'],
        ['text', 'lo'],
      ],
      end: { stop: 'EndTurn', usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    },
  ],
  [
    'unknown events, blocks, deltas and fields',
    [
      start({ usage: { input_tokens: 3, future: {} }, future: [1] }),
      { type: 'vertex_event', content_block: { type: 'text', text: 'no' } },
      block({ type: 'future_block', text: 'no' }),
      delta({ type: 'future_delta', text: 'no' }),
      text('Hi', 1),
      stop(),
      ...end(),
    ],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'empty text blocks',
    [
      start(),
      block({ type: 'text', text: '' }),
      text(''),
      stop(),
      block({ type: 'text', text: 'Hi' }, 1),
      stop(1),
      ...end(),
    ],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'an answer of nothing',
    [start(), ...end()],
    {
      heard: [],
      end: { stop: 'EndTurn', usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    },
  ],
  [
    'thinking with a signature, redacted thinking and a call, in order',
    [
      start(),
      block({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm' }),
      delta({ type: 'thinking_delta', thinking: '.' }),
      delta({ type: 'signature_delta', signature: 'sig' }),
      stop(),
      block({ type: 'redacted_thinking', data: 'secret' }, 1),
      stop(1),
      block(tool(), 2),
      json('{"a":1}', 2),
      stop(2),
      ...end('tool_use'),
    ],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['reasoning', '.'],
        ['encrypted', 'sig'],
        ['encrypted', 'secret'],
        ['start', 'toolu_1', 'get'],
        ['delta', 'toolu_1', '{"a":1}'],
        ['end', 'toolu_1', '{"a":1}'],
      ],
      items: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'secret' },
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'thinking whose text is left out is sent back, too',
    [
      start(),
      block({ type: 'thinking', thinking: '' }),
      delta({ type: 'signature_delta', signature: 'sig' }),
      stop(),
      ...hello,
      ...end(),
    ],
    { items: [{ type: 'thinking', thinking: '', signature: 'sig' }] },
  ],
  [
    'thinking of a service that does not sign',
    [
      start(),
      block({ type: 'thinking', thinking: 'H' }),
      delta({ type: 'thinking_delta', thinking: 'm' }),
      stop(),
      ...hello,
      ...end(),
    ],
    { items: [{ type: 'thinking', thinking: 'Hm' }] },
  ],
  [
    'thinking without an end and a signature is no item',
    [start(), block({ type: 'thinking', thinking: 'Hm' }), ...end()],
    { heard: [['reasoning', 'Hm']], items: [] },
  ],
  [
    'empty pieces of arguments',
    [start(), block(tool()), json(''), json('{"a"'), json(''), json(':1}'), stop(), ...end('tool_use')],
    {
      heard: [
        ['start', 'toolu_1', 'get'],
        ['delta', 'toolu_1', '{"a"'],
        ['delta', 'toolu_1', ':1}'],
        ['end', 'toolu_1', '{"a":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'no arguments at all',
    [start(), block(tool()), stop(), ...end('tool_use')],
    {
      heard: [
        ['start', 'toolu_1', 'get'],
        ['end', 'toolu_1', ''],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'arguments in the start of the block',
    [
      start(),
      block(tool('a', 'get', { a: 1 })),
      stop(),
      block(tool('b', 'get', '{"b":2}'), 1),
      stop(1),
      ...end('tool_use'),
    ],
    {
      heard: [
        ['start', 'a', 'get'],
        ['delta', 'a', '{"a":1}'],
        ['end', 'a', '{"a":1}'],
        ['start', 'b', 'get'],
        ['delta', 'b', '{"b":2}'],
        ['end', 'b', '{"b":2}'],
      ],
    },
  ],
  [
    'arguments in the start of the block and streamed, once',
    [start(), block(tool('a', 'get', { a: 1 })), json('{"a":1}'), stop(), ...end('tool_use')],
    {
      heard: [
        ['start', 'a', 'get'],
        ['delta', 'a', '{"a":1}'],
        ['end', 'a', '{"a":1}'],
      ],
    },
  ],
  [
    'two calls interleaved',
    [
      start(),
      block(tool('a'), 0),
      block(tool('b'), 1),
      json('{"b":', 1),
      json('{"a":1}', 0),
      json('2}', 1),
      stop(1),
      stop(0),
      ...end('tool_use'),
    ],
    {
      heard: [
        ['start', 'a', 'get'],
        ['start', 'b', 'get'],
        ['delta', 'b', '{"b":'],
        ['delta', 'a', '{"a":1}'],
        ['delta', 'b', '2}'],
        ['end', 'b', '{"b":2}'],
        ['end', 'a', '{"a":1}'],
      ],
    },
  ],
  [
    'calls without an id, and with one id for two',
    [
      start(),
      block(tool('', 'x', { a: 1 })),
      stop(),
      block({ type: 'tool_use', name: 'y', input: { a: 1 } }, 1),
      stop(1),
      block(tool('dup', 'z', { a: 1 }), 2),
      stop(2),
      block(tool('dup', 'z', { a: 1 }), 3),
      stop(3),
      ...end('tool_use'),
    ],
    {
      heard: ['call_1', 'call_2', 'dup', 'dup_1'].flatMap((id, index) => [
        ['start', id, ['x', 'y', 'z', 'z'][index]],
        ['delta', id, '{"a":1}'],
        ['end', id, '{"a":1}'],
      ]),
    },
  ],
  [
    'events without an index',
    [
      start(),
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop' },
      { type: 'content_block_start', content_block: tool() },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop' },
      ...end('tool_use'),
    ],
    {
      heard: [
        ['text', 'Hi'],
        ['start', 'toolu_1', 'get'],
        ['delta', 'toolu_1', '{"a":1}'],
        ['end', 'toolu_1', '{"a":1}'],
      ],
    },
  ],
  [
    'the same start twice',
    [start(), start(), block(tool()), block(tool()), json('{"a":1}'), stop(), stop(), ...end('tool_use')],
    {
      heard: [
        ['start', 'toolu_1', 'get'],
        ['delta', 'toolu_1', '{"a":1}'],
        ['end', 'toolu_1', '{"a":1}'],
      ],
    },
  ],
  [
    'a call that the message contains from the start',
    [start({ content: [tool('a', 'get', { a: 1 })], stop_reason: 'tool_use' }), { type: 'message_stop' }],
    {
      heard: [
        ['start', 'a', 'get'],
        ['delta', 'a', '{"a":1}'],
        ['end', 'a', '{"a":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'the output limit in the middle of arguments',
    [start(), block(tool()), json('{"a":'), stop(), ...end('max_tokens')],
    {
      heard: [
        ['start', 'toolu_1', 'get'],
        ['delta', 'toolu_1', '{"a":'],
        ['end', 'toolu_1', '{"a":'],
      ],
      end: { stop: 'MaxTokens' },
    },
  ],
  [
    'the output limit before the first piece of arguments is no call with {}',
    [start(), block(tool()), stop(), ...end('max_tokens')],
    {
      heard: [
        ['start', 'toolu_1', 'get'],
        ['end', 'toolu_1', ''],
      ],
      end: { stop: 'MaxTokens' },
    },
  ],
  [
    'a full context window',
    [start(), ...hello, ...end('model_context_window_exceeded')],
    { end: { stop: 'MaxTokens' } },
  ],
  ['a stop sequence', [start(), ...hello, ...end('stop_sequence')], { end: { stop: 'StopSequence' } }],
  ['an unknown reason', [start(), ...hello, ...end('constructor')], { end: { stop: 'EndTurn' } }],
  [
    'an end without a reason',
    [start(), ...hello, ...end(null)],
    { end: { stop: 'EndTurn', cutShort: undefined } },
  ],
  [
    'usage: counts of the cache, and the higher of two counts',
    [
      start({
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 4,
          cache_creation_input_tokens: 6,
          output_tokens: 1,
        },
      }),
      ...hello,
      ...end('end_turn', {
        usage: { input_tokens: 0, output_tokens: 9, output_tokens_details: { thinking_tokens: 5 } },
      }),
    ],
    {
      end: {
        stop: 'EndTurn',
        usage: {
          prompt_tokens: 20,
          completion_tokens: 9,
          total_tokens: 29,
          cache_read_tokens: 4,
          cache_creation_tokens: 6,
          thinking_tokens: 5,
        },
      },
    },
  ],
  [
    'usage: writes to the cache by their life time',
    [
      start({
        usage: {
          input_tokens: 10,
          cache_creation_input_tokens: 6,
          cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
        },
      }),
      ...hello,
      ...end('end_turn', { usage: { output_tokens: 9 } }),
    ],
    {
      end: {
        stop: 'EndTurn',
        usage: {
          prompt_tokens: 16,
          completion_tokens: 9,
          total_tokens: 25,
          cache_creation_tokens: 6,
          cache_creation_1h_tokens: 4,
        },
      },
    },
  ],
  [
    'usage that comes only at the end',
    [
      start({ usage: { input_tokens: 0, output_tokens: 0 } }),
      ...hello,
      ...end('end_turn', { usage: { input_tokens: 7, output_tokens: 9, cache_read_input_tokens: 1 } }),
    ],
    { end: { usage: { prompt_tokens: 8, completion_tokens: 9, total_tokens: 17, cache_read_tokens: 1 } } },
  ],
  [
    'usage of a wrong type',
    [start({ usage: { input_tokens: '7' } }), ...hello, ...end('end_turn', { usage: { output_tokens: -1 } })],
    { end: { stop: 'EndTurn', usage: undefined } },
  ],
  [
    'no usage at all',
    [start({}), ...hello, ...end('end_turn', { usage: null })],
    { end: { usage: undefined } },
  ],
  ['no start of the message', [...hello, ...end()], { end: { stop: 'EndTurn' } }],
  [
    'tools that the service executes, and citations, are sources',
    [
      start(),
      block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      json('{"query":"x"}'),
      stop(),
      block(
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [
            { type: 'web_search_result', url: 'https://a.example/', title: 'A' },
            { type: 'web_search_result', url: 'https://a.example/', title: 'A' },
            { type: 'web_search_result', url: 'nope', title: 'B' },
          ],
        },
        1,
      ),
      stop(1),
      block(
        {
          type: 'web_fetch_tool_result',
          content: { type: 'web_fetch_result', url: 'https://b.example/', content: {} },
        },
        2,
      ),
      stop(2),
      block({ type: 'web_search_tool_result', content: { type: 'web_search_tool_result_error' } }, 3),
      stop(3),
      block({ type: 'text', text: '', citations: [] }, 4),
      delta(
        {
          type: 'citations_delta',
          citation: { type: 'web_search_result_location', url: 'https://c.example/' },
        },
        4,
      ),
      delta(
        {
          type: 'citations_delta',
          citation: { type: 'page_location', document_index: 0, document_title: 'Report' },
        },
        4,
      ),
      delta(
        {
          type: 'citations_delta',
          citation: { type: 'char_location', document_index: 1, document_title: null },
        },
        4,
      ),
      text('Hi', 4),
      stop(4),
      ...end(),
    ],
    {
      heard: [['text', 'Hi']],
      sources: [
        { type: 'url', id: 'https://a.example/', url: 'https://a.example/', title: 'A' },
        { type: 'url', id: 'https://b.example/', url: 'https://b.example/' },
        { type: 'url', id: 'https://c.example/', url: 'https://c.example/' },
        { type: 'document', id: 'document-1', media_type: 'application/pdf', title: 'Report' },
        { type: 'document', id: 'document-2', media_type: 'text/plain', title: 'Document 2' },
      ],
    },
  ],
];
for (const [name, events, expected] of cases) {
  t.test(`reads ${name}`, async (t) => {
    const decoded = decode(wire, named(events));
    t.equal(decoded.error, undefined);
    if ('heard' in expected) t.strictSame(decoded.heard, expected.heard);
    if ('items' in expected) t.strictSame(decoded.items, expected.items);
    if ('sources' in expected) t.strictSame(decoded.sources, expected.sources);
    t.match(decoded, expected);
    const usage = 'end' in expected && (expected.end as Decoded['end'])?.usage;
    if (usage) t.strictSame(decoded.end?.usage, usage);
  });
}

const failures: [name: string, events: Sent[], expected: object][] = [
  [
    'an overload before the answer',
    named([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    { class: 'overloaded', transient: true, status: 529, message: 'provider overloaded: Overloaded' },
  ],
  [
    'an overload in the middle',
    named([start(), ...hello, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    { class: 'stream_interrupted', message: 'stream interrupted (provider 529 mid-stream)' },
  ],
  [
    'a request that the service refuses in its stream',
    named([
      start(),
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9' } },
    ]),
    { class: 'context_overflow', transient: false, message: 'context overflow: prompt is too long: 9' },
  ],
  [
    'an error of an unknown type',
    named([{ type: 'error', error: { type: 'constructor', message: 'Oh' } }]),
    { class: 'provider', message: /^provider error: Oh/ },
  ],
  [
    'an error of a proxy without a type',
    [['', '{"error":{"message":"no more credit"}}']],
    { message: /no more credit/ },
  ],
  ['an error that is text', [['error', 'upstream gone']], { class: 'provider', message: /upstream gone/ }],
  [
    'an error event that holds the error itself',
    [['error', '{"type":"rate_limit_error","message":"slow down"}']],
    { class: 'rate_limited', status: 429, message: 'rate limited: slow down' },
  ],
  [
    'a refusal',
    named([start(), ...hello, ...end('refusal')]),
    {
      class: 'content_filtered',
      transient: false,
      message: 'content filtered: refusal',
      usage: { completion_tokens: 2 },
    },
  ],
  [
    'a refusal with an explanation',
    named([
      start(),
      ...end('refusal', { delta: { stop_reason: 'refusal', stop_details: { explanation: 'Not allowed.' } } }),
    ]),
    { class: 'content_filtered', message: 'content filtered: refusal: Not allowed.' },
  ],
  [
    'a body that ends before the answer',
    named([start()]),
    { class: 'stream_interrupted', transient: true, usage: { prompt_tokens: 3 } },
  ],
  [
    'a body that ends in a call',
    named([start(), ...hello, block(tool(), 1), json('{"a"', 1)]),
    { class: 'stream_interrupted' },
  ],
  ['an end of nothing without a reason', named([start(), ...end(null)]), { class: 'stream_interrupted' }],
  [
    'another message in the middle',
    named([start(), ...hello, start({ id: 'other', usage: {} }), ...hello, ...end()]),
    { class: 'stream_interrupted', message: 'stream interrupted (connection reset)' },
  ],
];
for (const [name, events, expected] of failures) {
  t.test(`fails with ${name}`, async (t) => {
    const { error, end } = decode(wire, events);
    t.equal(end, undefined);
    t.match(error, expected);
  });
}

t.test('reports a body that ends regularly without a stop reason as cut short', async (t) => {
  const { heard, end } = decode(wire, named([start(), ...hello]));
  t.strictSame(heard, [
    ['text', 'Hel'],
    ['text', 'lo'],
  ]);
  t.match(end, { stop: 'EndTurn', cutShort: true, usage: { prompt_tokens: 3 } });
  t.notOk(end?.usage && 'completion_tokens' in end.usage, 'a partial count of tokens is not reported');
});

t.test('ignores events that are not JSON objects', async (t) => {
  const odd: Sent[] = ['', 'ping', '[DONE]', 'null', '7', '[]', '"text"', '{}', '{"type":7}'].map((data) => [
    '',
    data,
  ]);
  const nulls = named([
    { type: 'message_start' },
    { type: 'content_block_start', index: 0, content_block: null },
    { type: 'content_block_delta', index: 0, delta: null },
    { type: 'content_block_delta', index: null, delta: { type: 'text_delta', text: 7 } },
    { type: 'content_block_stop', index: 'x' },
    { type: 'message_delta' },
  ]);
  const { heard, error } = decode(wire, [...odd, ...nulls, ...named([start(), ...hello, ...end()])]);
  t.equal(error, undefined);
  t.equal(heard.length, 2);
});

t.test('uses the name of an event whose data has no type', async (t) => {
  const events = named([start(), ...hello, ...end()]).map(([name, data]): Sent => {
    const { type: _, ...rest } = JSON.parse(data);
    return [name, JSON.stringify(rest)];
  });
  t.match(decode(wire, events), { heard: { length: 2 }, end: { stop: 'EndTurn' } });
});

/** The finish of a stream, before the writer interprets it. */
const finishOf = (events: readonly Event[]): Finish => {
  const decoder = wire.decoder(SILENT);
  for (const [name, data] of named(events)) decoder.push(name, data);
  return decoder.end();
};

t.test('completes at message_stop, and is finished once the stop reason arrives', async (t) => {
  const decoder = wire.decoder(SILENT);
  const events = named([start(), ...hello, ...end()]);
  const seen = events.map(([name, data]) => [decoder.push(name, data), decoder.isFinished()]);
  t.strictSame(seen.slice(-3), [
    [false, false],
    [false, true],
    [true, true],
  ]);
  const late = wire.decoder(SILENT);
  const [reason] = end();
  if (reason) late.push('message_delta', JSON.stringify(reason));
  t.equal(late.push('error', '{"type":"error","error":{"type":"api_error","message":"late"}}'), true);
});

t.test('a pause contains the content to send back', async (t) => {
  const result = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
  const citation = { type: 'web_search_result_location', url: 'https://c.example/', encrypted_index: 'x' };
  const finish = finishOf([
    start(),
    block({ type: 'thinking', thinking: '' }),
    delta({ type: 'thinking_delta', thinking: 'Hm' }),
    delta({ type: 'signature_delta', signature: 'sig' }),
    stop(),
    block({ type: 'text', text: '' }, 1),
    text(' \n', 1),
    stop(1),
    block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, 2),
    json('{"query"', 2),
    json(':"x"}', 2),
    stop(2),
    block(result, 3),
    stop(3),
    block({ type: 'text', text: '' }, 4),
    delta({ type: 'citations_delta', citation }, 4),
    text('So far. \n', 4),
    stop(4),
    ...end('pause_turn'),
  ]);
  t.strictSame(finish, {
    reason: 'paused',
    raw: 'pause_turn',
    pause: {
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
        result,
        { type: 'text', text: 'So far.', citations: [citation] },
      ],
    },
  });
});

t.test('ends at a pause without content, or with calls that need results', async (t) => {
  t.match(finishOf([start(), ...end('pause_turn')]), { reason: 'other' });
  t.match(finishOf([start(), block(tool()), json('{"a":1}'), stop(), ...end('pause_turn')]), {
    reason: 'calls',
  });
});

const readWhole = (t: Test, body: JsonObject | null): { decoded: Decoded; isAnswer: boolean } => {
  let isAnswer = false;
  const whole: typeof wire = {
    ...wire,
    decoder(answer) {
      const decoder = wire.decoder(answer);
      isAnswer = decoder.whole(body);
      return decoder;
    },
  };
  const decoded = decode(whole, []);
  t.ok(decoded);
  return { decoded, isAnswer };
};

t.test('reads a whole message', async (t) => {
  const { decoded, isAnswer } = readWhole(t, {
    type: 'message',
    id: 'msg',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      {
        type: 'text',
        text: 'Hi',
        citations: [{ type: 'web_search_result_location', url: 'https://c.example/' }],
      },
      tool('a', 'get', { a: 1 }),
      tool('b', 'get', {}),
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 2 },
  });
  t.ok(isAnswer);
  t.strictSame(decoded.heard, [
    ['reasoning', 'Hm'],
    ['encrypted', 'sig'],
    ['text', 'Hi'],
    ['start', 'a', 'get'],
    ['delta', 'a', '{"a":1}'],
    ['end', 'a', '{"a":1}'],
    ['start', 'b', 'get'],
    ['end', 'b', ''],
  ]);
  t.strictSame(decoded.items, [{ type: 'thinking', thinking: 'Hm', signature: 'sig' }]);
  t.equal(decoded.sources.length, 1);
  t.match(decoded.end, { stop: 'ToolUse', usage: { total_tokens: 5 } });
});

t.test('rejects a body that is not a message', async (t) => {
  const bodies: (JsonObject | null)[] = [
    null,
    {},
    { type: 'error', error: {} },
    { type: 'message', content: 'Hi' },
  ];
  for (const body of bodies) {
    t.notOk(readWhole(t, body).isAnswer);
  }
});

const floods: [name: string, event: (count: number) => Event][] = [
  ['blocks', (count) => block({ type: 'text', text: '' }, count)],
  ['results of the service', () => block({ type: 'web_search_tool_result', data: 'x'.repeat(1024 * 1024) })],
  ['citations', () => delta({ type: 'citations_delta', citation: { data: 'x'.repeat(1024 * 1024) } })],
];
for (const [name, event] of floods) {
  t.test(`limits the ${name} of a completion`, async (t) => {
    const decoder = wire.decoder(SILENT);
    decoder.push('content_block_start', JSON.stringify(block({ type: 'text', text: '' })));
    t.throws(
      () => {
        for (let count = 1; count * 50 < BOUNDS.answerLength; count += 1) {
          const { type, ...rest } = event(count);
          decoder.push(type, JSON.stringify(rest));
        }
      },
      { message: /^provider error: the completion has more than 8388608 characters$/ },
    );
  });
}
