import t from 'tap';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import { type Decoded, decode, named, unnamed } from './decode.ts';
import { added, args, call, completed, done, nothing, reasoning } from './responses-events.ts';
import type { Event } from './responses-streams.ts';

/** Calls in streams of the Responses protocol. */

const wire = openaiResponsesWire();

const STREAMS: [name: string, events: Event[], expected: Partial<Decoded>][] = [
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
    'a call that ends with all of its arguments and is never finished',
    [
      added(call('a', '')),
      args('a', '{"n"'),
      {
        type: 'response.function_call_arguments.done',
        item_id: 'fc_a',
        output_index: 0,
        arguments: '{"n":1}',
      },
      completed(),
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
    'two calls that come whole and have one place',
    [done(call('a', '{"n":1}')), done(call('b', '{"n":2}')), completed()],
    {
      heard: [
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
        ['start', 'b', 'search'],
        ['end', 'b', '{"n":2}'],
      ],
      end: { stop: 'ToolUse' },
    },
  ],
  [
    'two calls of one id, of which the second is never finished',
    [
      done(call('a', '{"n":1}')),
      added(call('a', '', { id: 'y' }), 1),
      completed({ output: [call('a', '{"n":2}', { id: 'y' })] }),
    ],
    {
      heard: [
        ['start', 'a', 'search'],
        ['end', 'a', '{"n":1}'],
        ['start', 'a_2', 'search'],
        ['end', 'a_2', '{"n":2}'],
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
];

for (const [name, events, expected] of STREAMS) {
  t.test(`decodes ${name}`, async (t) => {
    t.strictSame(decode(wire, named(events)), { ...nothing, ...expected });
  });
  t.test(`decodes without event names: ${name}`, async (t) => {
    t.strictSame(decode(wire, unnamed(events)), { ...nothing, ...expected });
  });
}

t.test('rejects a completion with too many calls, even if they have no names', async (t) => {
  const events = Array.from({ length: 600 }, (_, n) => added(call(`c${n}`, '', { name: '' }), n));
  t.match(decode(wire, named(events)).error, { message: /more than 512 calls/, transient: false });
  const long = { ...args('a', 'x'.repeat(1024 * 1024)) };
  const flood = [added(call('a', '', { name: '' })), long, long, long];
  t.match(decode(wire, named(flood)).error, { message: /characters of arguments of one call/ });
});
