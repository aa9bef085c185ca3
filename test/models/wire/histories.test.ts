import fc from 'fast-check';
import t from 'tap';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import '../../random.ts';
import { requestOf, userMessage } from '../infer.ts';
import { encoded, FORMATS } from './every-format.ts';

/** For any thread, each format produces a request that its service accepts, and does not modify the thread. */

const text = (words: string) => ({ type: 'text' as const, text: words });
const assistant = (content: ContentBlock[], ...calls: [id: string, name: string, args: Json][]): Message => ({
  id: 'a',
  role: 'assistant',
  content,
  tool_calls: calls.map(([id, name, args]) => ({ id, name, arguments: args })),
});
const result = (id: string, words: string): Message => ({
  id: 'r',
  role: 'tool',
  tool_call_id: id,
  content: [text(words)],
});

const HISTORIES: Readonly<Record<string, Message[]>> = {
  'nothing but blanks': [userMessage(' '), assistant([text(''), text('\n')])],
  'arguments that are no object': [
    userMessage('x'),
    assistant([], ['c1', 'f', 'text'], ['c2', 'f', null], ['c3', 'f', [1]]),
    result('c1', ''),
    result('c2', ' '),
    result('c3', 'x'),
  ],
  'names and ids of other services': [
    userMessage('x'),
    assistant([], ['functions.find:0', 'find it!', {}], ['', '', {}]),
    result('functions.find:0', 'x'),
    result('', 'y'),
  ],
  'halves of characters': [
    userMessage('half \ud83d'),
    assistant([text('\udc00')], ['c\ud83d', 'f\ud83d', { '\ud83d': ['\udc00'] }]),
    result('c\ud83d', '\ud83d'),
  ],
  'ids that come again': [
    userMessage('x'),
    assistant([], ['0', 'f', {}]),
    result('0', 'first'),
    assistant([], ['0', 'f', {}]),
    result('0', 'second'),
  ],
  'one call twice': [
    userMessage('x'),
    assistant([{ type: 'tool_use', id: 'c', name: 'f', input: {} }], ['c', 'f', {}]),
    result('c', 'x'),
  ],
  'a call without a result': [userMessage('x'), assistant([], ['c', 'f', {}]), userMessage('y')],
  'a result without its call': [userMessage('x'), result('c', 'late'), userMessage('y')],
  'results in messages of the user': [
    userMessage('x'),
    assistant([
      { type: 'tool_use', id: 'c1', name: 'f', input: {} },
      { type: 'tool_use', id: 'c2', name: 'f', input: {} },
    ]),
    { id: 'u', role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2', content: [text('2')] }] },
    { id: 'u', role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [text('1')] }] },
  ],
  'a system text between a call and its result': [
    userMessage('x'),
    assistant([], ['c', 'f', {}]),
    { id: 's', role: 'system', content: [text('Be brief.')] },
    result('c', 'x'),
  ],
};

for (const [what, messages] of Object.entries(HISTORIES)) {
  t.test(`sends a history with ${what}`, async (t) => {
    const before = JSON.stringify(messages);
    for (const { format, sent, problem } of encoded(requestOf('', { messages }))) {
      t.equal(problem, undefined, `${format}: ${JSON.stringify(sent.body)}`);
    }
    t.equal(JSON.stringify(messages), before);
  });
}

t.test('assigns each result to its own call when ids repeat', async (t) => {
  const messages = HISTORIES['ids that come again'] ?? [];
  for (const { format, sent } of encoded(requestOf('', { messages }))) {
    t.match(JSON.stringify(sent.body), /"0".*first.*"0_2".*"0_2".*second/, format);
  }
});

const odd = fc.constantFrom(
  '',
  ' ',
  'half \ud83d',
  'ok',
  '0',
  'functions.x:0',
  'get weather',
  'a'.repeat(99),
);
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value))),
  fc.constant({ x: '\udc00' }),
);
const textBlock = odd.map(text);
const thinking = odd.map((words): ContentBlock => ({ type: 'thinking', thinking: words }));
const use = fc.record({ type: fc.constant('tool_use' as const), id: odd, name: odd, input: json });
const used = fc.record({
  type: fc.constant('tool_result' as const),
  tool_use_id: odd,
  content: fc.array(
    odd.map((words) => ({ type: 'text' as const, text: words })),
    { maxLength: 2 },
  ),
});
const call = fc.record({ id: odd, name: odd, arguments: json });
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    id: fc.constant('u'),
    role: fc.constant('user' as const),
    content: fc.array(fc.oneof(textBlock, used, thinking), { maxLength: 3 }),
  }),
  fc.record({
    id: fc.constant('a'),
    role: fc.constant('assistant' as const),
    content: fc.array(fc.oneof(textBlock, use, thinking), { maxLength: 3 }),
    tool_calls: fc.array(call, { maxLength: 3 }),
  }),
  fc.tuple(odd, odd).map(([id, words]) => result(id, words)),
  fc.record({
    id: fc.constant('s'),
    role: fc.constant('system' as const),
    content: fc.array(textBlock, { maxLength: 2 }),
  }),
);

t.test('produces no request that a service rejects, for any history', async () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (given) => {
      const messages = [userMessage('x'), ...given];
      for (const { format, sent, problem } of encoded(requestOf('', { messages }))) {
        if (problem !== undefined) throw new Error(`${format}: ${problem}: ${JSON.stringify(sent.body)}`);
      }
    }),
    { numRuns: 1000 },
  );
});

t.test('returns reasoning only to the model, provider and format that produced it', async (t) => {
  const items: Readonly<Record<string, JsonObject>> = {
    'openai-chat': { reasoning_content: 'secret' },
    'openai-responses': { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'secret' },
    anthropic: { type: 'thinking', thinking: 'secret', signature: 's' },
    gemini: { signature: 'secret', on: 'call' },
  };
  const origins = FORMATS.flatMap(({ wire: { format }, upstream }) => [
    { provider: 'p', model: upstream, format },
    { provider: 'other', model: upstream, format },
    { provider: 'p', model: `${upstream}-next`, format },
  ]);
  for (const origin of origins) {
    const item = items[origin.format] ?? {};
    const messages: Message[] = [
      userMessage('x'),
      {
        ...assistant([text('y')], ['c', 'f', {}]),
        metadata: { reasoning_items: [{ ...origin, item, after: { text: 0, calls: 0 } }] },
      },
      result('c', 'z'),
    ];
    for (const { format, sent, problem } of encoded(requestOf('', { messages }))) {
      t.equal(problem, undefined, format);
      const isOwn = FORMATS.some(
        ({ wire, upstream }) =>
          wire.format === format &&
          format === origin.format &&
          origin.provider === 'p' &&
          origin.model === upstream,
      );
      if (!isOwn) t.notMatch(JSON.stringify(sent.body), 'secret', `${format} of ${JSON.stringify(origin)}`);
    }
  }
});
