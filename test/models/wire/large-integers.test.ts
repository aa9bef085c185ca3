import t from 'tap';
import { FOREIGN_CHAT } from '../../../src/models/chat-options.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { Wire } from '../../../src/models/wire/wire.ts';
import { decode, type Sent } from './decode.ts';

/** Arguments that arrive as an object keep the digits of their integers, so that the loop can reject them. */

const ID = '1234567890123456789';
const ARGS = `{"id":${ID}}`;

const anthropic = (type: string, rest: string): Sent => [type, `{"type":"${type}",${rest}}`];

const responses = (type: string, rest: string): Sent => [type, `{"type":"${type}",${rest}}`];

const item = (args: string): string =>
  `"output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"get","arguments":${args}}`;

const formats: [name: string, wire: Wire, events: Sent[]][] = [
  [
    'gemini',
    geminiWire({ platform: 'gemini' }),
    [
      [
        '',
        `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get","args":${ARGS}}}]},"finishReason":"STOP"}]}`,
      ],
    ],
  ],
  [
    'openai-chat',
    openaiChatWire(FOREIGN_CHAT),
    [
      [
        '',
        `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"get","arguments":${ARGS}}}]}}]}`,
      ],
      ['', '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}'],
      ['', '[DONE]'],
    ],
  ],
  [
    'anthropic',
    anthropicWire(),
    [
      anthropic('message_start', '"message":{"id":"m","content":[],"usage":{}}'),
      anthropic(
        'content_block_start',
        `"index":0,"content_block":{"type":"tool_use","id":"c","name":"get","input":${ARGS}}`,
      ),
      anthropic('content_block_stop', '"index":0'),
      anthropic('message_delta', '"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}'),
      anthropic('message_stop', '"x":1'),
    ],
  ],
  [
    'openai-responses, in the item',
    openaiResponsesWire(),
    [
      responses('response.output_item.added', item('""')),
      responses('response.output_item.done', item(ARGS)),
      responses('response.completed', '"response":{"status":"completed"}'),
    ],
  ],
  [
    'openai-responses, in the event of the arguments',
    openaiResponsesWire(),
    [
      responses('response.output_item.added', item('""')),
      responses(
        'response.function_call_arguments.done',
        `"output_index":0,"item_id":"fc","arguments":${ARGS}`,
      ),
      responses('response.completed', '"response":{"status":"completed"}'),
    ],
  ],
];
for (const [name, wire, events] of formats) {
  t.test(`keeps the digits of object arguments with ${name}`, async (t) => {
    const { heard, error } = decode(wire, events);
    t.equal(error, undefined);
    t.strictSame(
      heard.flatMap(([kind, , args]) => (kind === 'end' ? [args] : [])),
      [ARGS],
    );
  });
}
