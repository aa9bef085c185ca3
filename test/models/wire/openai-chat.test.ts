import t from 'tap';
import { createAnswer } from '../../../src/models/answer.ts';
import { BOUNDS } from '../../../src/models/bounds.ts';
import { FOREIGN_CHAT, OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Heard, recordingSink } from '../infer.ts';
import { type Decoded, decode, type Sent, unnamed } from './decode.ts';

/** Streams of Chat Completions as services send them, and the completions that they represent. */

const wire = openaiChatWire(FOREIGN_CHAT);

const chunk = (delta: unknown, finish_reason: unknown = null): JsonObject =>
  ({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }) as JsonObject;
const calling = (...tool_calls: unknown[]): JsonObject => chunk({ tool_calls });
const named = (id: string | null, name: string | null, args: unknown, index?: number) => ({
  ...(index !== undefined && { index }),
  ...(id !== null && { id }),
  type: 'function',
  function: { ...(name !== null && { name }), arguments: args },
});
const more = (args: string, index?: number) => ({
  ...(index !== undefined && { index }),
  function: { arguments: args },
});
const DONE = '[DONE]';
const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const COUNTED = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

/** The calls of a completion, in order, with `?` for a generated id. */
const callsOf = ({ heard }: Decoded): [id: string, name: string, args: string][] =>
  heard.flatMap(([kind, id, args = '']) => {
    if (kind !== 'end') return [];
    const name = heard.find((each) => each[0] === 'start' && each[1] === id)?.[2] ?? '';
    const streamed = heard.map((each) => (each[0] === 'delta' && each[1] === id ? each[2] : '')).join('');
    t.equal(streamed, args, 'the streamed arguments are complete');
    return [[/^call_[0-9a-f-]{36}$/.test(id) ? '?' : id, name, args]];
  });
const textOf = ({ heard }: Decoded, kind = 'text'): string =>
  heard.map((each) => (each[0] === kind ? each[1] : '')).join('');

type Expected = {
  text?: string;
  reasoning?: string;
  calls?: [id: string, name: string, args: string][];
  items?: JsonObject[];
  end?: object;
  error?: object;
};
type Row = [name: string, events: (JsonObject | string)[] | Sent[], expected: Expected];

const check = (name: string, decoded: Decoded, expected: Expected): void => {
  t.test(name, async (t) => {
    const { text = '', reasoning = '', calls = [], items = [], end, error } = expected;
    t.equal(textOf(decoded), text);
    t.equal(textOf(decoded, 'reasoning'), reasoning);
    t.strictSame(callsOf(decoded), calls);
    t.strictSame(decoded.items, items);
    t.strictSame(
      decoded.end,
      error ? undefined : (end ?? { stop: calls.length > 0 ? 'ToolUse' : 'EndTurn' }),
    );
    if (error) t.match(decoded.error, error);
    else t.equal(decoded.error, undefined);
  });
};
const isSent = (event: JsonObject | string | Sent): event is Sent => Array.isArray(event);
const checkAll = (rows: readonly Row[]): void => {
  for (const [name, events, expected] of rows) {
    const sent = events
      .map((event) => (isSent(event) ? event : unnamed([event])[0]))
      .filter((each) => !!each);
    check(name, decode(wire, sent), expected);
  }
};

const hi = [chunk({ content: 'Hi' }), chunk({}, 'stop')];

checkAll([
  ['a first chunk without role', [...hi, DONE], { text: 'Hi' }],
  [
    'a first chunk with role and null content',
    [chunk({ role: 'assistant', content: null }), ...hi],
    { text: 'Hi' },
  ],
  [
    'a chunk with an empty list of choices',
    [{ choices: [], prompt_filter_results: [] }, ...hi],
    { text: 'Hi' },
  ],
  [
    'chunks of the content filter of Azure',
    [
      ...hi,
      {
        choices: [{ index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: {} }],
      },
    ] as JsonObject[],
    { text: 'Hi' },
  ],
  [
    'several choices, of which one is read',
    [
      { choices: [{ index: 1, delta: { content: 'no' }, finish_reason: 'length' }] },
      {
        choices: [
          { index: 1, delta: { content: 'no' } },
          { index: 0, delta: { content: 'Hi' } },
        ],
      },
      chunk({}, 'stop'),
    ],
    { text: 'Hi' },
  ],
  [
    'a choice without delta',
    [{ choices: [{ index: 0 }] }, { choices: [{ delta: null }] }, ...hi],
    { text: 'Hi' },
  ],
  [
    'a finish reason that is repeated',
    [...hi, chunk({}, 'stop'), chunk({ content: '' }, 'stop'), DONE],
    { text: 'Hi' },
  ],
  [
    'stop as the reason of an answer with calls',
    [calling(named('a', 'f', '{"x":1}', 0)), chunk({}, 'stop'), DONE],
    { calls: [['a', 'f', '{"x":1}']] },
  ],
  ['no finish reason before [DONE]', [chunk({ content: 'Hi' }), DONE], { text: 'Hi' }],
  ['[DONE] between blanks', [chunk({ content: 'Hi' }), ' [DONE] ', chunk({ content: 'no' })], { text: 'Hi' }],
  [
    'a call and no finish reason before [DONE]',
    [calling(named('a', 'f', '', 0)), DONE],
    { calls: [['a', 'f', '']] },
  ],
  ['nothing but [DONE]', [DONE], { error: { class: 'stream_interrupted' } }],
  [
    'neither a finish reason nor [DONE]',
    [chunk({ content: 'Hi' })],
    { text: 'Hi', end: { stop: 'EndTurn', cutShort: true } },
  ],
  ['a finish reason and no [DONE]', hi, { text: 'Hi' }],
  ['a chunk behind [DONE]', [...hi, DONE, chunk({ content: 'no' })], { text: 'Hi' }],
  [
    'usage in the last chunk',
    [...hi, { choices: [], usage: USAGE }, DONE],
    { text: 'Hi', end: { stop: 'EndTurn', usage: COUNTED } },
  ],
  [
    'usage in a chunk without choices',
    [...hi, { usage: USAGE }],
    { text: 'Hi', end: { stop: 'EndTurn', usage: COUNTED } },
  ],
  [
    'usage in every chunk',
    [
      { ...chunk({ content: 'H' }), usage: { prompt_tokens: 3, completion_tokens: 1 } },
      { ...chunk({ content: 'i' }, 'stop'), usage: USAGE },
      { choices: [], usage: null },
    ],
    { text: 'Hi', end: { stop: 'EndTurn', usage: COUNTED } },
  ],
  [
    'usage whose details are null',
    [...hi, { usage: { ...USAGE, prompt_tokens_details: null, completion_tokens_details: null } }],
    { text: 'Hi', end: { stop: 'EndTurn', usage: COUNTED } },
  ],
  [
    'usage with details',
    [
      ...hi,
      {
        usage: {
          ...USAGE,
          prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      },
    ],
    {
      text: 'Hi',
      end: {
        stop: 'EndTurn',
        usage: { ...COUNTED, cache_read_tokens: 2, cache_creation_tokens: 1, thinking_tokens: 4 },
      },
    },
  ],
  [
    'cached tokens in the field of DeepSeek',
    [...hi, { usage: { ...USAGE, prompt_cache_hit_tokens: 2, prompt_cache_miss_tokens: 1 } }],
    { text: 'Hi', end: { stop: 'EndTurn', usage: { ...COUNTED, cache_read_tokens: 2 } } },
  ],
  [
    'reasoning that xAI counts only in the total',
    [
      ...hi,
      {
        usage: {
          prompt_tokens: 3,
          completion_tokens: 5,
          total_tokens: 12,
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      },
    ],
    {
      text: 'Hi',
      end: {
        stop: 'EndTurn',
        usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12, thinking_tokens: 4 },
      },
    },
  ],
  [
    'counts that are none',
    [...hi, { usage: { prompt_tokens: '3', completion_tokens: -1, total_tokens: 1.5 } }],
    { text: 'Hi' },
  ],
]);

checkAll([
  [
    'deltas of calls without index, in one chunk and in two',
    [
      calling(named('a', 'f', '{}'), named('b', 'g', '{"x":1}')),
      calling(named('c', 'f', '')),
      calling(more('{"y":2}')),
      chunk({}, 'stop'),
    ],
    {
      calls: [
        ['a', 'f', '{}'],
        ['b', 'g', '{"x":1}'],
        ['c', 'f', '{"y":2}'],
      ],
    },
  ],
  [
    'calls without index and id',
    [calling(named(null, 'f', '{"x":1}')), calling(named(null, 'f', '{"x":2}')), chunk({}, 'stop')],
    {
      calls: [
        ['?', 'f', '{"x":1}'],
        ['?', 'f', '{"x":2}'],
      ],
    },
  ],
  [
    'gaps in the index',
    [
      calling(named('a', 'f', '{"x"', 0), named('b', 'g', '', 4)),
      calling(more(':1}', 0), more('{"y":2}', 4)),
      chunk({}, 'tool_calls'),
    ],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{"y":2}'],
      ],
    },
  ],
  [
    'an id in the first delta only, with the arguments character by character',
    [
      calling(named('a', 'f', '', 0)),
      ...[...'{"x":1}'].map((each) => calling(more(each, 0))),
      chunk({}, 'tool_calls'),
    ],
    { calls: [['a', 'f', '{"x":1}']] },
  ],
  [
    'another id at the same index, for a call of another name',
    [calling(named('a', 'f', '{"x":1}', 0)), calling(named('b', 'g', '{"x":2}', 0)), chunk({}, 'stop')],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{"x":2}'],
      ],
    },
  ],
  [
    'another id at the same index, for a call of the same name',
    [calling(named('a', 'f', '{"x":1}', 0)), calling(named('b', 'f', '', 0)), calling(more('{"x":2}', 0))],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'f', '{"x":2}'],
      ],
      end: { stop: 'ToolUse', cutShort: true },
    },
  ],
  [
    'another id in each delta of one call',
    [
      calling(named('a', 'f', '{"x"', 0)),
      calling(named('b', null, ':', 0)),
      calling(named('c', null, '1}', 0)),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'f', '{"x":1}']] },
  ],
  [
    'id, type and name in each delta',
    [
      calling(named('a', 'f', '', 0)),
      calling(named('a', 'f', '{"x":{', 0)),
      calling(named('a', 'f', '}}', 0)),
      calling(named('a', 'f', '', 0)),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'f', '{"x":{}}']] },
  ],
  [
    'ids that are empty, blank and null',
    [
      calling(
        named('', 'f', '{"x":1}', 0),
        { ...named(null, 'g', '{"x":2}', 1), id: null },
        named(' ', 'h', '{"x":3}', 2),
      ),
      calling(named('', '', '', 0)),
      chunk({}, 'stop'),
    ],
    {
      calls: [
        ['?', 'f', '{"x":1}'],
        ['?', 'g', '{"x":2}'],
        ['?', 'h', '{"x":3}'],
      ],
    },
  ],
  [
    'equal parts of the arguments of a call without an id',
    [
      calling(named(null, 'f', '', 0)),
      calling(more('{"x":', 0)),
      calling(more('{"x":', 0)),
      calling(more('1}}', 0)),
      chunk({}, 'stop'),
    ],
    { calls: [['?', 'f', '{"x":{"x":1}}']] },
  ],
  [
    'a name in pieces',
    [
      calling(named('a', 'get_', '', 0)),
      calling(named(null, 'weather', '', 0)),
      calling(more('{"x":1}', 0)),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'get_weather', '{"x":1}']] },
  ],
  [
    'a name in pieces of a call without arguments',
    [calling(named('a', 'get_', null, 0)), calling(named('a', 'time', null, 0)), chunk({}, 'tool_calls')],
    { calls: [['a', 'get_time', '']] },
  ],
  [
    'arguments ahead of the name',
    [
      calling({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
      calling(named(null, 'f', ':1}', 0)),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'f', '{"x":1}']] },
  ],
  [
    'arguments as an object',
    [
      calling(named('a', 'f', { x: 1 }, 0)),
      calling(named('a', 'f', { x: 1 }, 0)),
      calling(named('b', 'g', {}, 1)),
      chunk({}, 'stop'),
    ],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', ''],
      ],
    },
  ],
  [
    'complete calls in one chunk, with the reason',
    [chunk({ tool_calls: [named('a', 'f', '{"x":1}', 0), named('b', 'f', '{"x":2}', 1)] }, 'tool_calls')],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'f', '{"x":2}'],
      ],
    },
  ],
  [
    'two calls whose deltas alternate',
    [
      calling(named('a', 'f', '', 0)),
      calling(named('b', 'g', '', 1)),
      calling(more('{"x"', 0)),
      calling(more('{"y"', 1)),
      calling(more(':1}', 0)),
      calling(more(':2}', 1)),
      chunk({}, 'tool_calls'),
    ],
    {
      calls: [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{"y":2}'],
      ],
    },
  ],
  [
    'the same id for two calls',
    [calling(named('dup', 'f', '{"x":1}', 0), named('dup', 'f', '{"x":2}', 1)), chunk({}, 'tool_calls')],
    {
      calls: [
        ['dup', 'f', '{"x":1}'],
        ['?', 'f', '{"x":2}'],
      ],
    },
  ],
  [
    'the same id for two calls without index',
    [
      calling(named('dup', 'f', '{"x":1}')),
      calling(named('dup', 'g', '{"x":2}')),
      calling(named('dup', 'g', '{"x":3}')),
      chunk({}, 'stop'),
    ],
    {
      calls: [
        ['dup', 'f', '{"x":1}'],
        ['?', 'g', '{"x":2}'],
        ['?', 'g', '{"x":3}'],
      ],
    },
  ],
  [
    'an empty delta of a call behind all calls',
    [
      calling(named('a', 'f', '{"x":1}', 0)),
      calling({ index: 1, function: {} }),
      calling({}),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'f', '{"x":1}']] },
  ],
  [
    'a call without a name',
    [calling({ index: 0, id: 'a', function: { arguments: '{"x":1}' } }), chunk({}, 'tool_calls')],
    { error: { class: 'provider', message: /a call without a name: \{"x":1\}$/ } },
  ],
  [
    'a call without a name behind text',
    [chunk({ content: 'Hi' }), calling({ index: 0, id: 'a', function: {} }), chunk({}, 'tool_calls')],
    { text: 'Hi', error: { class: 'stream_interrupted' } },
  ],
  [
    'arguments that are cut off by the output limit',
    [calling(named('a', 'f', '{"x":', 0)), chunk({}, 'length')],
    { calls: [['a', 'f', '{"x":']], end: { stop: 'MaxTokens' } },
  ],
  [
    'arguments that are cut off with the stream',
    [calling(named('a', 'f', '{"x":', 0))],
    { error: { class: 'stream_interrupted' } },
  ],
  [
    'the deprecated function_call',
    [
      chunk({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
      chunk({}, 'function_call'),
    ],
    { calls: [['?', 'f', '{"x":1}']] },
  ],
  [
    'text between calls',
    [
      calling(named('a', 'f', '', 0)),
      chunk({ content: 'Hi' }),
      calling(more('{"x":1}', 0)),
      chunk({}, 'stop'),
    ],
    { text: 'Hi', calls: [['a', 'f', '{"x":1}']] },
  ],
]);

const DETAIL = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };

checkAll([
  ...(['reasoning_content', 'reasoning', 'thinking'] as const).map(
    (field): Row => [
      `reasoning as ${field}`,
      [
        chunk({ [field]: 'Let me ' }),
        chunk({ [field]: 'see', content: null }),
        chunk({ [field]: null, content: 'Hi' }),
        chunk({}, 'stop'),
      ],
      { text: 'Hi', reasoning: 'Let me see', items: [{ [field]: 'Let me see' }] },
    ],
  ),
  [
    'reasoning under two names at once',
    [
      chunk({ reasoning_content: 'a', reasoning: 'a' }),
      chunk({ reasoning_content: '', reasoning: 'b' }),
      ...hi,
    ],
    { text: 'Hi', reasoning: 'ab', items: [{ reasoning_content: 'a', reasoning: 'ab' }] },
  ],
  [
    'reasoning with details, in fragments',
    [
      chunk({ reasoning: 'Let me ', reasoning_details: [{ ...DETAIL, text: 'Let me ' }] }),
      chunk({ reasoning: 'see', reasoning_details: [{ ...DETAIL, text: 'see', signature: null }] }),
      chunk({ reasoning: null, reasoning_details: [{ ...DETAIL, signature: 'SIG' }] }),
      chunk({ reasoning_details: [{ ...DETAIL, text: 'More' }] }),
      calling(named('a', 'f', '{"x":1}', 0)),
      chunk(
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'X', index: 1, id: 'r' }] },
        'tool_calls',
      ),
    ],
    {
      reasoning: 'Let me seeMore',
      calls: [['a', 'f', '{"x":1}']],
      items: [
        {
          reasoning: 'Let me see',
          reasoning_details: [
            { ...DETAIL, text: 'Let me see', signature: 'SIG' },
            { ...DETAIL, text: 'More' },
          ],
        },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'X', index: 1, id: 'r' }] },
      ],
    },
  ],
  [
    'reasoning as details alone',
    [chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'So', index: 0 }, null, 7] }), ...hi],
    {
      text: 'Hi',
      reasoning: 'So',
      items: [{ reasoning_details: [{ type: 'reasoning.summary', summary: 'So', index: 0 }] }],
    },
  ],
  [
    'reasoning in the same chunk as text, and behind it',
    [chunk({ content: 'A', reasoning_content: 'x' }), chunk({ reasoning_content: 'y' }, 'stop')],
    { text: 'A', reasoning: 'xy', items: [{ reasoning_content: 'x' }, { reasoning_content: 'y' }] },
  ],
  [
    '<think> in the text',
    [chunk({ content: '<think>a</think>Hi' }), chunk({}, 'stop')],
    { text: '<think>a</think>Hi' },
  ],
  [
    'content as a list of parts, as Mistral sends it',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Hi' }, { type: 'reference', reference_ids: [1] }, 7] }),
      chunk({}, 'stop'),
    ],
    { text: 'Hi', reasoning: 'hm' },
  ],
  ['a refusal in words', [chunk({ refusal: 'No.' }), chunk({}, 'stop')], { text: 'No.' }],
  ['a refusal that is no text', [chunk({ refusal: false }), ...hi], { text: 'Hi' }],
  [
    'a signature that Gemini wants back with its call',
    [
      calling({ ...named('a', 'f', '{"x":1}', 0), extra_content: { google: { thought_signature: 'SIG' } } }),
      chunk({}, 'stop'),
    ],
    { calls: [['a', 'f', '{"x":1}']], items: [{ extra_content: { google: { thought_signature: 'SIG' } } }] },
  ],
]);

const OVERLOADED = { error: { message: 'Busy', type: 'overloaded_error' } };

checkAll([
  ['an error before text', [OVERLOADED], { error: { class: 'overloaded', message: /Busy/ } }],
  [
    'an error after text',
    [chunk({ content: 'Hi' }), OVERLOADED],
    { text: 'Hi', error: { class: 'stream_interrupted', status: 529 } },
  ],
  [
    'an error after text that does not pass',
    [chunk({ content: 'Hi' }), { error: { message: 'Too long', code: 'context_length_exceeded' } }],
    { text: 'Hi', error: { class: 'context_overflow' } },
  ],
  [
    'an error with a status',
    [{ error: { message: 'Wait', code: 429 } }],
    { error: { class: 'rate_limited', status: 429 } },
  ],
  [
    'an error as a text',
    [{ error: 'model is loading' }],
    { error: { class: 'provider', message: /model is loading/ } },
  ],
  [
    'an error beside choices that are null',
    [{ id: 'c', choices: null, error_message: "This model's maximum context length is 8192 tokens" }],
    { error: { class: 'context_overflow', message: /maximum context length is 8192/ } },
  ],
  [
    'an error of vLLM',
    [{ object: 'error', message: 'Bad grammar', code: 400 }],
    { error: { class: 'invalid_request', message: /Bad grammar/ } },
  ],
  ['an error of FastAPI', [{ detail: 'Boom' }], { error: { class: 'provider', message: /Boom/ } }],
  [
    'an error of Google in a list',
    ['[{"error":{"code":503,"message":"High demand"}}]'],
    { error: { class: 'overloaded', message: /High demand/ } },
  ],
  [
    'an error that ends the choice',
    [
      chunk({ content: 'Hi' }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'Gone' } }] },
    ],
    { text: 'Hi', error: { class: 'stream_interrupted', status: 502 } },
  ],
  [
    'an event with the name error',
    [['error', '{"message":"Gone away","code":500}']],
    { error: { class: 'provider', message: /Gone away/ } },
  ],
  [
    'an event with the name error in words',
    [['error', 'Gone away']],
    { error: { class: 'provider', message: /Gone away/ } },
  ],
  [
    'other names of events',
    [
      ['message', JSON.stringify(hi[0])],
      ['chunk', JSON.stringify(hi[1])],
      ['done', DONE],
    ],
    { text: 'Hi' },
  ],
  ['error: null', [{ ...chunk({ content: 'Hi' }), error: null }, chunk({}, 'stop')], { text: 'Hi' }],
  ['a ping', [chunk({ content: 'H' }), { type: 'ping' }, chunk({ content: 'i' }, 'stop')], { text: 'Hi' }],
  [
    'choices that are null',
    [chunk({ content: 'H' }), { id: 'c', choices: null }, {}, chunk({ content: 'i' }, 'stop')],
    { text: 'Hi' },
  ],
  ['data that is not an object', ['null', '7', '[]', 'keep-alive', '""', ...hi], { text: 'Hi' }],
  [
    'fields of unfit types',
    [
      chunk({
        content: 7,
        reasoning_content: {},
        tool_calls: {},
        function_call: 'x',
        annotations: 1,
        refusal: [],
      }),
      chunk(['x']),
      { choices: [null, 'x', { index: 0, delta: { content: 'Hi' }, finish_reason: 7 }], usage: 'x' },
      calling(null, 'x', { index: 'x', id: 7, function: 'x' }),
      chunk({}, 'stop'),
    ],
    { text: 'Hi' },
  ],
  [
    'an event that is cut off',
    ['{"choices":[{"ind'],
    { error: { class: 'provider', transient: true, message: /not JSON: \{"choices":\[\{"ind$/ } },
  ],
  [
    'an event that is cut off, after text',
    [chunk({ content: 'Hi' }), '{"choices":[{"ind'],
    { text: 'Hi', error: { class: 'stream_interrupted' } },
  ],
]);

const stops: [reason: string, expected: Expected][] = [
  ['stop', {}],
  ['eos', {}],
  ['end_turn', {}],
  ['constructor', {}],
  ['', { end: { stop: 'EndTurn', cutShort: true } }],
  ['length', { end: { stop: 'MaxTokens' } }],
  ['max_tokens', { end: { stop: 'MaxTokens' } }],
  ['stop_sequence', { end: { stop: 'StopSequence' } }],
  ['tool_calls', { end: { stop: 'ToolUse' } }],
  ['content_filter', { error: { class: 'content_filtered', message: 'content filtered: content_filter' } }],
  ['sensitive', { error: { class: 'content_filtered' } }],
  ['error', { error: { class: 'provider', transient: true } }],
  ['insufficient_system_resource', { error: { class: 'provider', message: /insufficient_system_resource/ } }],
];
for (const [reason, expected] of stops) {
  check(`an answer that ends with '${reason}'`, decode(wire, unnamed([chunk({ content: 'Hi' }, reason)])), {
    text: 'Hi',
    ...expected,
  });
}

t.test('reports cited addresses as sources', async (t) => {
  const url_citation = { start_index: 0, end_index: 1, url: 'https://a.example', title: 'A' };
  const annotations = [{ type: 'url_citation', url_citation }, { type: 'file_citation' }, null];
  const { sources } = decode(wire, unnamed([chunk({ content: 'Hi', annotations }, 'stop')]));
  t.match(sources, [{ type: 'url', id: /./, url: 'https://a.example', title: 'A' }]);
  t.equal(sources.length, 1);
});

t.test('reports the item of reasoning before the output after it', async (t) => {
  const order: string[] = [];
  const answer = createAnswer(
    {
      text: (delta) => order.push(delta),
      reasoning: (delta) => order.push(delta),
      reasoningEncrypted: () => {},
      reasoningItem: ({ item }) => order.push(JSON.stringify(item)),
      toolStart: (id) => order.push(id),
      toolDelta: () => {},
      toolEnd: () => {},
    },
    { provider: 'p', model: 'm', format: wire.format },
  );
  const decoder = wire.decoder(answer);
  for (const delta of [
    { reasoning: 'r1' },
    { content: '' },
    { tool_calls: [named('a', 'f', '', 0)] },
    { reasoning: 'r2' },
    { content: 'text' },
  ]) {
    decoder.push('', JSON.stringify(chunk(delta)));
  }
  decoder.end();
  t.strictSame(order, ['r1', 'r2', '{"reasoning":"r1r2"}', 'a', 'text']);
});

t.test('reports no items for a completion of OpenAI', async (t) => {
  const events = [chunk({ reasoning_content: 'x', reasoning_details: [{ type: 'reasoning.text' }] }), ...hi];
  const { items, heard } = decode(openaiChatWire(OPENAI_CHAT), unnamed(events));
  t.strictSame(items, []);
  t.strictSame(heard, [
    ['reasoning', 'x'],
    ['text', 'Hi'],
  ]);
});

t.test('the decoder reports when the completion is finished and when it is complete', async (t) => {
  const decoder = wire.decoder(createAnswer(recordingSink([]), { provider: 'p', model: 'm', format: 'f' }));
  t.equal(decoder.push('', JSON.stringify(chunk({ content: 'Hi' }))), false);
  t.equal(decoder.isFinished(), false);
  t.equal(decoder.push('', JSON.stringify(chunk({}, 'stop'))), false);
  t.equal(decoder.isFinished(), true);
  t.equal(decoder.push('', DONE), true);
});

/** Reads a whole completion that a service sends although a stream was requested. */
const whole = (json: unknown) => {
  const heard: Heard[] = [];
  const items: JsonObject[] = [];
  const sink = {
    ...recordingSink(heard),
    reasoningItem: ({ item }: { item: JsonObject }) => items.push(item),
  };
  const answer = createAnswer(sink, { provider: 'p', model: 'm', format: wire.format });
  const decoder = wire.decoder(answer);
  return decoder.whole(json) ? { heard, items, end: answer.end(decoder.end()) } : undefined;
};

t.test('reads a whole JSON body as a completion', async (t) => {
  const message = {
    role: 'assistant',
    content: 'Hi',
    reasoning_content: 'hm',
    tool_calls: [named('a', 'f', '{"x":1}'), named('a', 'f', '{"x":2}')],
  };
  const body = {
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: USAGE,
  };
  t.match(whole(body), {
    heard: [
      ['reasoning', 'hm'],
      ['text', 'Hi'],
      ['start', 'a', 'f'],
      ['delta', 'a', '{"x":1}'],
      ['start', /^call_/, 'f'],
      ['delta', /^call_/, '{"x":2}'],
      ['end', 'a', '{"x":1}'],
      ['end', /^call_/, '{"x":2}'],
    ],
    items: [{ reasoning_content: 'hm' }],
    end: { stop: 'ToolUse', usage: COUNTED },
  });
  t.match(whole({ choices: [{ message: { content: 'Hi' } }] }), { end: { stop: 'EndTurn' } });
});

t.test('rejects a body that is not a completion', async (t) => {
  for (const body of [
    null,
    [],
    'x',
    {},
    { choices: [] },
    { choices: [{ index: 0 }] },
    { choices: [{ text: 'x' }] },
    { error: { message: 'x' } },
    { error: 'x', choices: [{ message: { content: 'Hi' } }] },
  ]) {
    t.equal(whole(body), undefined, JSON.stringify(body));
  }
});

t.test('reads whole messages in events once', async (t) => {
  const message = (content: string) => ({ choices: [{ message: { content }, finish_reason: 'stop' }] });
  t.equal(textOf(decode(wire, unnamed([message('Hi')]))), 'Hi');
  t.equal(textOf(decode(wire, unnamed([chunk({ content: 'Hi' }), message('Hi')]))), 'Hi');
});

const floods: [name: string, piece: (n: number) => JsonObject, why: RegExp][] = [
  [
    'reasoning that readers are not shown',
    () => chunk({ reasoning_details: [{ type: 'x', data: 'x'.repeat(100_000) }] }),
    /characters$/,
  ],
  ['calls without names', (n) => calling({ index: n, id: `c${n}` }), /more than 512 calls$/],
  [
    'arguments of a call without a name',
    () => calling({ index: 0, id: 'c', function: { arguments: 'x'.repeat(100_000) } }),
    /a call without a name/,
  ],
  ['a name in pieces', (n) => calling(named('c', `n${n}`, '', 0)), /the id or name of a call$/],
];
for (const [name, piece, why] of floods) {
  t.test(`fails for ${name} without end`, async (t) => {
    const events = Array.from({ length: BOUNDS.calls + 2 }, (_, n) => piece(n));
    t.match(decode(wire, unnamed(events)).error, { class: 'provider', message: why });
  });
}
