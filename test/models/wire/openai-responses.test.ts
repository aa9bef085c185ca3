import t from 'tap';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import { type Decoded, decode, named, unnamed } from './decode.ts';
import {
  added,
  annotation,
  args,
  CITATION,
  call,
  completed,
  done,
  incomplete,
  message,
  nothing,
  reasoning,
  SOURCE,
  summary,
  text,
} from './responses-events.ts';
import type { Event } from './responses-streams.ts';

/** Streams of the Responses protocol, event by event, and their decoding. */

const wire = openaiResponsesWire();

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
        { type: 'document', id: 'c/f2', media_type: 'text/plain', title: 'b.txt', filename: 'b.txt' },
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
    'items of built-in tools that are sent back, with their sources',
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
      items: [
        { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
        { type: 'file_search_call', results: [{ file_id: 'f', filename: 'a.txt' }] },
        { type: 'code_interpreter_call', code: 'x', container_id: 'c', outputs: null },
      ],
      sources: [
        { type: 'url', id: 'ws_0-1', url: 'https://a.example' },
        { type: 'document', id: 'fs_1-3', media_type: 'text/plain', title: 'a.txt', filename: 'a.txt' },
      ],
      end: { stop: 'EndTurn' },
    },
  ],
  [
    'a text that comes only with its finished message',
    [done(message('Hello')), done(message('Hello')), completed({ output: [message('Hello')] })],
    { heard: [['text', 'Hello']], end: { stop: 'EndTurn' } },
  ],
  [
    'deltas and annotations that come after their finished items',
    [
      done(reasoning('Hm')),
      summary('Hm'),
      done(message('Hello', [CITATION]), 1),
      { ...text('Hello', 1), item_id: 'msg_0' },
      { ...annotation(CITATION), output_index: 1 },
      completed(),
    ],
    {
      heard: [
        ['reasoning', 'Hm'],
        ['encrypted', 'ENC'],
        ['text', 'Hello'],
      ],
      items: [reasoning('Hm')],
      sources: [SOURCE],
      end: { stop: 'EndTurn' },
    },
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
  t.test(`decodes without event names: ${name}`, async (t) => {
    t.strictSame(decode(wire, unnamed(events)), { ...nothing, ...expected });
  });
}
