import t from 'tap';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Decoded, decode, named, unnamed } from './decode.ts';

/** Streams of the Responses protocol, event by event, and what the decoder makes of them. */

type Event = JsonObject & { type: string };

const wire = openaiResponsesWire();

const text = (delta: string, output_index = 0): Event => ({
  type: 'response.output_text.delta',
  item_id: `msg_${output_index}`,
  output_index,
  content_index: 0,
  delta,
});
const summary = (delta: string, output_index = 0): Event => ({
  type: 'response.reasoning_summary_text.delta',
  item_id: `rs_${output_index}`,
  output_index,
  summary_index: 0,
  delta,
});
const added = (item: JsonObject, output_index = 0): Event => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (item: JsonObject, output_index = 0): Event => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const message = (said: string, annotations: JsonObject[] = []): JsonObject => ({
  type: 'message',
  id: 'msg_0',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: said, annotations }],
});
const call = (id: string, args: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'search',
  arguments: args,
  status: 'completed',
  ...more,
});
const args = (id: string, delta: string, output_index = 0): Event => ({
  type: 'response.function_call_arguments.delta',
  item_id: `fc_${id}`,
  output_index,
  delta,
});
const reasoning = (said: string, encrypted_content: string | null = 'ENC', id = 'rs_0'): JsonObject => ({
  type: 'reasoning',
  id,
  summary: said === '' ? [] : [{ type: 'summary_text', text: said }],
  encrypted_content,
});
const annotation = (given: JsonObject): Event => ({
  type: 'response.output_text.annotation.added',
  item_id: 'msg_0',
  output_index: 0,
  content_index: 0,
  annotation_index: 0,
  annotation: given,
});
const completed = (more: JsonObject = {}): Event => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', incomplete_details: null, output: [], ...more },
});
const incomplete = (reason: string | null): Event => ({
  type: 'response.incomplete',
  response: { id: 'r', status: 'incomplete', incomplete_details: reason === null ? null : { reason } },
});
const failed = (error: JsonObject | null, more: JsonObject = {}): Event => ({
  type: 'response.failed',
  sequence_number: 3,
  response: { id: 'r', status: 'failed', error, ...more },
});

const SOURCE = { type: 'url', id: 'msg_0-1', url: 'https://a.example', title: 'A' } as const;
const CITATION = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 };

const nothing: Decoded = { heard: [], items: [], parts: [], sources: [] };

const STREAMS: [name: string, events: Event[], expected: Partial<Decoded>][] = [
  [
    'a text with everything that the protocol sends around it',
    [
      { type: 'response.created', response: { id: 'r', status: 'in_progress', error: null, usage: null } },
      { type: 'response.in_progress', response: { id: 'r', status: 'in_progress' } },
      added({ type: 'message', id: 'msg_0', status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', output_index: 0, part: { type: 'output_text', text: '' } },
      text('Hel'),
      text(''),
      text('lo'),
      { type: 'response.output_text.done', output_index: 0, text: 'Hello' },
      { type: 'response.content_part.done', output_index: 0, part: { type: 'output_text', text: 'Hello' } },
      done(message('Hello')),
      completed({
        output: [message('Hello')],
        usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      }),
    ],
    {
      heard: [
        ['text', 'Hel'],
        ['text', 'lo'],
      ],
      end: { stop: 'EndTurn', usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    },
  ],
  [
    'usage with cached, written and reasoning tokens',
    [
      text('Hi'),
      completed({
        usage: {
          input_tokens: 30,
          input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 8 },
          total_tokens: 50,
        },
      }),
    ],
    {
      heard: [['text', 'Hi']],
      end: {
        stop: 'EndTurn',
        usage: {
          prompt_tokens: 30,
          completion_tokens: 20,
          total_tokens: 50,
          cache_read_tokens: 10,
          cache_creation_tokens: 5,
          thinking_tokens: 8,
        },
      },
    },
  ],
  [
    'usage with details of null and of the wrong type',
    [
      text('Hi'),
      completed({
        usage: {
          input_tokens: 1.5,
          input_tokens_details: null,
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: '8' },
        },
      }),
    ],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn', usage: { completion_tokens: 2 } } },
  ],
  [
    'reasoning in two summaries, then a call: the item comes before the call starts',
    [
      added({ type: 'reasoning', id: 'rs_0', summary: [] }),
      summary('One. '),
      summary('Two.'),
      done(reasoning('One. Two.')),
      added(call('c1', ''), 1),
      args('c1', '{"q":', 1),
      args('c1', '1}', 1),
      {
        type: 'response.function_call_arguments.done',
        item_id: 'fc_c1',
        output_index: 1,
        arguments: '{"q":1}',
      },
      done(call('c1', '{"q":1}'), 1),
      completed(),
    ],
    {
      heard: [
        ['reasoning', 'One. '],
        ['reasoning', 'Two.'],
        ['encrypted', 'ENC'],
        ['start', 'c1', 'search'],
        ['delta', 'c1', '{"q":'],
        ['delta', 'c1', '1}'],
        ['end', 'c1', '{"q":1}'],
      ],
      items: [reasoning('One. Two.')],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'reasoning without encrypted content is shown and not returned',
    [summary('Hm'), done(reasoning('Hm', null)), text('Hi', 1), completed()],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['text', 'Hi'],
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'an encrypted reasoning item without a summary',
    [done(reasoning('')), text('Hi', 1), completed()],
    {
      heard: [
        ['encrypted', 'ENC'],
        ['text', 'Hi'],
      ],
      items: [reasoning('')],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'a reasoning item twice is returned once',
    [done(reasoning('Hm')), done(reasoning('Hm')), text('Hi', 1), completed()],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['encrypted', 'ENC'],
        ['text', 'Hi'],
      ],
      items: [reasoning('Hm')],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'a reasoning item that is finished after what belongs to it is not returned',
    [summary('Hm'), text('Hi', 1), done(reasoning('Hm')), completed()],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['text', 'Hi'],
        ['encrypted', 'ENC'],
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'the reasoning itself, of a model with open weights',
    [
      {
        type: 'response.reasoning_text.delta',
        item_id: 'rs_0',
        output_index: 0,
        content_index: 0,
        delta: 'Hm',
      },
      done({ type: 'reasoning', id: 'rs_0', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] }),
      text('Hi', 1),
      completed(),
    ],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['text', 'Hi'],
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'a refusal is text',
    [
      {
        type: 'response.refusal.delta',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        delta: 'I cannot',
      },
      { type: 'response.refusal.done', item_id: 'msg_0', output_index: 0, refusal: 'I cannot' },
      done({ type: 'message', id: 'msg_0', content: [{ type: 'refusal', refusal: 'I cannot' }] }),
      completed(),
    ],
    { heard: [['text', 'I cannot']], end: { stop: 'EndTurn' } },
  ],
  [
    'annotations of each kind are sources, once',
    [
      text('Hi'),
      annotation(CITATION),
      annotation({ type: 'file_citation', file_id: 'f1', filename: 'a.txt', index: 0 }),
      annotation({ type: 'container_file_citation', container_id: 'c', file_id: 'f2', filename: 'b.txt' }),
      annotation({ type: 'file_path', file_id: 'f3', index: 0 }),
      annotation({ type: 'future_citation', url: 'https://b.example' }),
      annotation({ type: 'url_citation', url: null }),
      done(message('Hi', [CITATION])),
      completed(),
    ],
    {
      heard: [['text', 'Hi']],
      sources: [
        SOURCE,
        { type: 'document', id: 'msg_0-2', media_type: 'text/plain', title: 'a.txt', filename: 'a.txt' },
        { type: 'document', id: 'msg_0-3', media_type: 'text/plain', title: 'b.txt', filename: 'b.txt' },
        {
          type: 'document',
          id: 'msg_0-4',
          media_type: 'application/octet-stream',
          title: 'f3',
          filename: 'f3',
        },
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'annotations that only the finished message has',
    [text('Hi'), done(message('Hi', [CITATION])), done(message('Hi', [CITATION])), completed()],
    { heard: [['text', 'Hi']], sources: [SOURCE], end: { stop: 'EndTurn' } },
  ],
  [
    'built-in tools are ignored, and their sources are kept',
    [
      added({ type: 'web_search_call', id: 'ws_0', status: 'in_progress' }),
      { type: 'response.web_search_call.searching', item_id: 'ws_0', output_index: 0 },
      done({
        type: 'web_search_call',
        id: 'ws_0',
        status: 'completed',
        action: {
          type: 'search',
          sources: [
            { type: 'url', url: 'https://a.example' },
            { type: 'api', name: 'oai-weather' },
          ],
        },
      }),
      done({ type: 'file_search_call', id: 'fs_1', results: [{ file_id: 'f', filename: 'a.txt' }] }, 1),
      done({ type: 'code_interpreter_call', id: 'ci_2', code: 'x', container_id: 'c', outputs: null }, 2),
      done({ type: 'image_generation_call', id: 'ig_3', result: 'AAAA' }, 3),
      done({ type: 'mcp_call', id: 'mcp_4', name: 'x', arguments: '{}', error: { message: 'no' } }, 4),
      { type: 'response.mcp_call.failed', item_id: 'mcp_4', output_index: 4, error: { message: 'no' } },
      text('Hi', 5),
      completed(),
    ],
    {
      heard: [['text', 'Hi']],
      sources: [
        { type: 'url', id: 'ws_0-1', url: 'https://a.example' },
        { type: 'document', id: 'fs_1-3', media_type: 'text/plain', title: 'a.txt', filename: 'a.txt' },
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'two calls whose deltas alternate',
    [
      added(call('a', ''), 0),
      added(call('b', ''), 1),
      args('a', '{"n"', 0),
      args('b', '{"n":', 1),
      args('a', ':1}', 0),
      args('b', '2}', 1),
      done(call('b', '{"n":2}'), 1),
      done(call('a', '{"n":1}'), 0),
      completed(),
    ],
    {
      heard: [
        ['start', 'a', 'search'],
        ['start', 'b', 'search'],
        ['delta', 'a', '{"n"'],
        ['delta', 'b', '{"n":'],
        ['delta', 'a', ':1}'],
        ['delta', 'b', '2}'],
        ['end', 'b', '{"n":2}'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'deltas whose item ids change are told apart by their places',
    [
      added(call('a', ''), 0),
      added(call('b', ''), 1),
      args('x', '{"n":1}', 0),
      args('y', '{"n":2}', 1),
      done(call('a', '', { id: 'z' }), 0),
      done(call('b', '', { id: 'z' }), 1),
      completed(),
    ],
    {
      heard: [
        ['start', 'a', 'search'],
        ['start', 'b', 'search'],
        ['delta', 'a', '{"n":1}'],
        ['delta', 'b', '{"n":2}'],
        ['end', 'a', '{"n":1}'],
        ['end', 'b', '{"n":2}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call with all of its arguments in its first event',
    [added(call('a', '{"n":1}')), completed()],
    {
      heard: [
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call that is never finished ends with the arguments of the response',
    [
      added(call('a', '')),
      args('a', '{"n"'),
      completed({ output: [reasoning('', null), call('a', '{"n":1}')] }),
    ],
    {
      heard: [
        ['start', 'a', 'search'],
        ['delta', 'a', '{"n"'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call without arguments, which ends with the answer',
    [added(call('a', '')), done(call('a', '')), done(call('b', '{"n":1}'), 1), completed()],
    {
      heard: [
        ['start', 'a', 'search'],
        ['start', 'b', 'search'],
        ['end', 'a', ''],
        ['end', 'b', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'arguments as an object',
    [done(call('a', '', { arguments: { n: 1 } })), completed()],
    {
      heard: [
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'one id for two calls',
    [
      added(call('dup', '', { id: 'x' }), 0),
      added(call('dup', '', { id: 'y' }), 1),
      done(call('dup', '{"n":1}', { id: 'x' }), 0),
      done(call('dup', '{"n":2}', { id: 'y' }), 1),
      completed(),
    ],
    {
      heard: [
        ['start', 'dup', 'search'],
        ['start', 'dup_2', 'search'],
        ['end', 'dup', '{"n":1}'],
        ['end', 'dup_2', '{"n":2}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'every event of a call twice',
    [
      added(call('a', '')),
      added(call('a', '')),
      done(call('a', '{"n":1}')),
      done(call('a', '{"n":1}')),
      completed({ output: [call('a', '{"n":1}')] }),
    ],
    {
      heard: [
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call that gets its name when it is finished',
    [added(call('a', '', { name: '' })), args('a', '{"n":1}'), done(call('a', '{"n":1}')), completed()],
    {
      heard: [
        ['start', 'a', 'search'],
        ['delta', 'a', '{"n":1}'],
        ['end', 'a', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'calls that the model has wrapped in one call of a tool that does not exist',
    [
      added(call('p', '', { name: 'parallel' })),
      args('p', '{"tool_uses"'),
      done(
        call(
          'p',
          '{"tool_uses":[{"recipient_name":"functions.a","parameters":{"n":1}},{"recipient_name":"functions.b","parameters":{}}]}',
          { name: 'parallel' },
        ),
      ),
      completed(),
    ],
    {
      heard: [
        ['start', 'p_0', 'a'],
        ['delta', 'p_0', '{"n":1}'],
        ['end', 'p_0', '{"n":1}'],
        ['start', 'p_1', 'b'],
        ['delta', 'p_1', '{}'],
        ['end', 'p_1', '{}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call of a tool that is named as the wrapper',
    [
      added(call('p', '', { name: 'parallel' })),
      done(call('p', '{"n":1}', { name: 'parallel' })),
      completed(),
    ],
    {
      heard: [
        ['start', 'p', 'parallel'],
        ['delta', 'p', '{"n":1}'],
        ['end', 'p', '{"n":1}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a call of a custom tool',
    [
      added({ type: 'custom_tool_call', id: 'ct', call_id: 'a', name: 'sql', input: '' }),
      { type: 'response.custom_tool_call_input.delta', item_id: 'ct', output_index: 0, delta: 'SELECT' },
      { type: 'response.custom_tool_call_input.done', item_id: 'ct', output_index: 0, input: 'SELECT' },
      done({ type: 'custom_tool_call', id: 'ct', call_id: 'a', name: 'sql', input: 'SELECT' }),
      completed(),
    ],
    {
      heard: [
        ['start', 'a', 'sql'],
        ['delta', 'a', 'SELECT'],
        ['end', 'a', 'SELECT'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'a text that comes only with its finished message',
    [done(message('Hello')), done(message('Hello')), completed({ output: [message('Hello')] })],
    { heard: [['text', 'Hello']], end: { stop: 'EndTurn' } },
  ],
  [
    'an answer that comes only with the end',
    [completed({ output: [reasoning('Hm'), message('Hi', [CITATION]), call('a', '{"n":1}')] })],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['encrypted', 'ENC'],
        ['text', 'Hi'],
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
      ],
      items: [reasoning('Hm')],
      sources: [SOURCE],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'events, fields and items that do not exist yet',
    [
      { type: 'response.future.delta', delta: 'x', error: { message: 'no' } },
      { type: 'keepalive', sequence_number: 3 },
      { type: 'ping' },
      added({ type: 'future_call', id: 'f' }),
      { ...text('Hi', 1), obfuscation: 'abc', logprobs: [] },
      done({ type: 'future_call', id: 'f' }),
      completed({ future: true }),
    ],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'events that lack everything, or have something else in its place',
    [
      { type: 'response.output_text.delta' },
      { type: 'response.output_text.delta', delta: null },
      { type: 'response.output_text.delta', delta: { text: 'x' } },
      { type: 'response.reasoning_summary_text.delta', delta: 1 },
      { type: 'response.function_call_arguments.delta', delta: 'x' },
      { type: 'response.function_call_arguments.done' },
      { type: 'response.output_item.added', item: null },
      { type: 'response.output_item.done', item: [] },
      { type: 'response.output_item.done', output_index: 'x', item: { type: 'message', content: [null, 1] } },
      { type: 'response.output_item.done', item: { type: 'reasoning', summary: {}, encrypted_content: 7 } },
      { type: 'response.output_text.annotation.added', annotation: 'x' },
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.completed' },
    ],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'nothing follows the end',
    [text('a'), completed(), text('b')],
    { heard: [['text', 'a']], end: { stop: 'EndTurn' } },
  ],
  [
    'the output limit in the middle of a call',
    [
      text('Hi'),
      added(call('a', ''), 1),
      args('a', '{"n', 1),
      done(call('a', '{"n', { status: 'incomplete' }), 1),
      incomplete('max_output_tokens'),
    ],
    {
      heard: [
        ['text', 'Hi'],
        ['start', 'a', 'search'],
        ['delta', 'a', '{"n'],
        ['end', 'a', '{"n'],
      ],
      end: { stop: 'MaxTokens' },
    },
  ],
  [
    'an end that is incomplete for a reason which does not exist yet',
    [text('Hi'), incomplete('future')],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'an end that is incomplete for no reason',
    [text('Hi'), incomplete(null)],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn' } },
  ],
  [
    'a body that ends in order after a text',
    [text('Hi'), done(message('Hi'))],
    { heard: [['text', 'Hi']], end: { stop: 'EndTurn', cutShort: true } },
  ],
];

for (const [name, events, expected] of STREAMS) {
  t.test(`decodes ${name}`, async (t) => {
    t.strictSame(decode(wire, named(events)), { ...nothing, ...expected });
  });
  t.test(`decodes without names of events: ${name}`, async (t) => {
    t.strictSame(decode(wire, unnamed(events)), { ...nothing, ...expected });
  });
}

const FAILURES: [name: string, events: Event[], error: object][] = [
  [
    'a content filter',
    [text('Hi'), incomplete('content_filter')],
    { class: 'content_filtered', message: 'content filtered: content_filter', transient: false },
  ],
  [
    'a failed response, with its usage and words',
    [failed({ code: 'server_error', message: 'Oops' })],
    { class: 'provider', status: 500, message: 'provider error: Oops server_error', transient: true },
  ],
  [
    'a failed response after text',
    [text('Hi'), failed({ code: 'server_error', message: 'Oops' })],
    { class: 'stream_interrupted', status: 500, message: 'stream interrupted (provider 500 mid-stream)' },
  ],
  [
    'a prompt that is rejected',
    [failed({ code: 'invalid_prompt', message: 'Not this' })],
    { class: 'invalid_request', message: 'invalid request: Not this invalid_prompt', transient: false },
  ],
  [
    'a prompt that is rejected after text',
    [text('Hi'), failed({ code: 'invalid_prompt', message: 'Not this' })],
    { class: 'invalid_request', message: 'invalid request: Not this invalid_prompt', transient: false },
  ],
  [
    'an image that violates the policy',
    [failed({ code: 'image_content_policy_violation', message: 'No' })],
    { class: 'content_filtered', transient: false },
  ],
  [
    'an image that does not exist',
    [failed({ code: 'image_file_not_found', message: 'Where' })],
    { class: 'invalid_request', transient: false },
  ],
  [
    'a failed response without an error',
    [failed(null)],
    { message: 'provider error: the model stopped with failed' },
  ],
  [
    'a failed response that names a reason',
    [failed(null, { incomplete_details: { reason: 'content_filter' } })],
    { class: 'content_filtered' },
  ],
  [
    'an error event as the specification has it',
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null, sequence_number: 1 }],
    { class: 'rate_limited', status: 429, message: 'rate limited: Slow down rate_limit_exceeded' },
  ],
  [
    'an error event as the service sends it',
    [{ type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay' } }],
    { class: 'rate_limited', status: 429 },
  ],
  [
    'an error event after text',
    [text('Hi'), { type: 'error', error: { type: 'server_error', code: null, message: 'Oops' } }],
    { class: 'stream_interrupted', status: 500 },
  ],
  [
    'a context that is too long',
    [
      {
        type: 'error',
        error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Long' },
      },
    ],
    { class: 'context_overflow', transient: false },
  ],
  [
    'an error with a status as its code',
    [{ type: 'error', code: 503, message: 'Busy' }],
    { class: 'overloaded', status: 503 },
  ],
  ['an error that is a text', [{ type: 'error', error: 'Busy' }], { message: 'provider error: Busy' }],
  [
    'a call without a name',
    [done(call('a', '{}', { name: null })), completed()],
    { message: "provider error: the answer has a call without a name (id 'a')", transient: true },
  ],
  [
    'a call without a name, never finished',
    [text('Hi'), added(call('a', '', { name: '' }), 1), completed()],
    { class: 'stream_interrupted' },
  ],
  ['a body that ends before anything', [], { class: 'stream_interrupted', transient: true }],
  [
    'a body that ends in the middle of a call',
    [text('Hi'), added(call('a', ''), 1), args('a', '{"n"', 1)],
    { class: 'stream_interrupted', transient: true },
  ],
];

for (const [name, events, error] of FAILURES) {
  t.test(`reports ${name}`, async (t) => {
    const decoded = decode(wire, named(events));
    t.match(decoded.error, error);
    t.equal(decoded.end, undefined);
  });
}

t.test('an event whose type is only its name is read', async (t) => {
  const decoded = decode(wire, [
    ['response.output_text.delta', '{"output_index":0,"delta":"Hi"}'],
    ['response.completed', '{"response":{}}'],
  ]);
  t.strictSame(decoded, { ...nothing, heard: [['text', 'Hi']], end: { stop: 'EndTurn' } });
  t.match(decode(wire, [['error', '{"message":"Slow down","code":"rate_limit_exceeded"}']]).error, {
    class: 'rate_limited',
  });
});

t.test('what is not JSON is ignored, and the end of other protocols is an end', async (t) => {
  const decoded = decode(wire, [
    ['', 'ping'],
    ['', '"text"'],
    ['', ''],
    ['', JSON.stringify(text('Hi'))],
    ['', '{"type":"response.out'],
    ['', '[DONE]'],
    ['', JSON.stringify(text('more'))],
  ]);
  t.strictSame(decoded, { ...nothing, heard: [['text', 'Hi']], end: { stop: 'EndTurn', cutShort: true } });
});

const FOREIGN: [json: JsonObject, error: object][] = [
  [{ error: { message: 'Slow down', code: 429 } }, { class: 'rate_limited', message: /Slow down/ }],
  [{ detail: 'No such route' }, { message: /No such route/ }],
  [{ choices: null, error_message: 'maximum context length' }, { class: 'context_overflow' }],
  [
    { object: 'chat.completion.chunk', choices: [] },
    { message: /adapter 'openai'/, transient: false },
  ],
];
for (const [json, error] of FOREIGN) {
  t.test(`reports an event without a type: ${JSON.stringify(json)}`, async (t) => {
    t.match(decode(wire, unnamed([json])).error, error);
  });
}

t.test('an event without a type that is no error is ignored', async (t) => {
  const { heard, end } = decode(wire, unnamed([{ id: 'x' }, text('Hi'), completed()]));
  t.strictSame([heard, end], [[['text', 'Hi']], { stop: 'EndTurn' }]);
});

t.test('the usage of a failed response counts', async (t) => {
  const usages: unknown[] = [];
  const ignore = (): void => {};
  const decoder = wire.decoder({
    text: ignore,
    reasoning: ignore,
    reasoningEncrypted: ignore,
    reasoningItem: ignore,
    file: ignore,
    source: ignore,
    callStart: ignore,
    callDelta: ignore,
    callEnd: ignore,
    usage: (usage) => usages.push(usage),
    hasBegun: () => false,
  });
  const event = failed(
    { code: 'server_error', message: 'x' },
    { usage: { input_tokens: 3, output_tokens: 1 } },
  );
  t.throws(() => decoder.push('', JSON.stringify(event)));
  t.strictSame(usages, [{ prompt_tokens: 3, completion_tokens: 1 }]);
});

t.test('the answer is finished when the response is', async (t) => {
  const decoder = wire.decoder({ hasBegun: () => true, text: () => {} } as never);
  t.equal(decoder.push('', JSON.stringify(text('Hi'))), false);
  t.equal(decoder.isFinished(), false);
  t.equal(decoder.push('', JSON.stringify(completed())), true);
  t.equal(decoder.isFinished(), true);
  t.strictSame(decoder.end(), { reason: 'stop' });
});

t.test('an answer with too many calls is refused, even where they have no names', async (t) => {
  const events = Array.from({ length: 600 }, (_, n) => added(call(`c${n}`, '', { name: '' }), n));
  t.match(decode(wire, named(events)).error, { message: /more than 512 calls/, transient: false });
  const long = { ...args('a', 'x'.repeat(1024 * 1024)) };
  const flood = [added(call('a', '', { name: '' })), long, long, long];
  t.match(decode(wire, named(flood)).error, { message: /characters of arguments of one call/ });
});
