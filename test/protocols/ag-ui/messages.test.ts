import { MessageSchema } from '@ag-ui/core/schemas';
import { MessageSchema as OldMessageSchema } from 'ag-ui-client-0';
import t from 'tap';
import { toAgUiMessages, toHistoryItems } from '../../../src/protocols/ag-ui/messages.ts';
import type { Suspensions } from '../../../src/protocols/ai-sdk/suspensions.ts';
import type { Message } from '../../../src/schema/message.ts';

/** chat-and-agui.md 14. */

const NONE: Suspensions = () => undefined;

const text = (value: string): Message['content'] => [{ type: 'text', text: value }];

const asked = (id: string, calls: string[], content: Message['content'] = [], run_id = 'R'): Message => ({
  id,
  role: 'assistant',
  content,
  tool_calls: calls.map((call) => ({ id: call, name: 'look', arguments: { of: call } })),
  metadata: { run_id, step_index: 0 },
});

const answer = (call: string, value: string, run_id = 'R'): Message => ({
  id: `${call}: ${value}`,
  role: 'tool',
  tool_call_id: call,
  content: text(value),
  metadata: { run_id },
});

const waits =
  (open: boolean): Suspensions =>
  (run_id, call_id) =>
    run_id === 'R' && call_id === 'c1'
      ? {
          ticket_id: 'perm_c1',
          resume_mode: 'replay_tool_call',
          digest: undefined,
          tickets: undefined,
          wait: undefined,
          edited: undefined,
          open,
        }
      : undefined;

const convert = (messages: Message[]) => {
  const converted = toAgUiMessages(messages);
  for (const message of converted)
    for (const schema of [MessageSchema, OldMessageSchema]) schema.parse(message);
  return converted;
};

const ids = (messages: Message[], suspensions = NONE) =>
  toHistoryItems(messages, suspensions).map(({ id }) => id);

const call = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'look', arguments: JSON.stringify({ of: id }) },
});

const MEDIA: Message['content'] = [
  ...text('look'),
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  { type: 'document', source: { type: 'url', url: 'https://a.b/d' }, title: 'd' },
];

t.test('keeps the content of listed messages and names their calls', async (t) => {
  const messages: Message[] = [
    { id: 'u1', role: 'user', content: MEDIA },
    asked('a1', ['c1'], text('Let me look.')),
    answer('c1', '7'),
    { id: 's1', role: 'system', content: text('be'), visibility: 'internal' },
  ];
  t.strictSame(toHistoryItems(messages, NONE), [
    { id: 'u1', role: 'user', content: MEDIA },
    { id: 'a1', role: 'assistant', content: text('Let me look.'), toolCalls: [call('c1')] },
    { id: 'c1: 7', role: 'tool', content: text('7'), toolCallId: 'c1' },
    { id: 's1', role: 'system', content: text('be') },
  ]);
});

const PLACEHOLDER = "Tool 'look' suspended: awaiting decision";

t.test('hides a placeholder while the call is suspended and after its result', async (t) => {
  const open = [asked('a1', ['c1', 'c2']), answer('c1', PLACEHOLDER), answer('c2', '2')];
  t.strictSame(ids(open, waits(true)), ['a1', 'c2: 2']);
  t.strictSame(ids([...open, answer('c1', '1')], waits(false)), ['a1', 'c2: 2', 'c1: 1']);
  t.strictSame(
    ids(open, waits(false)),
    ['a1', `c1: ${PLACEHOLDER}`, 'c2: 2'],
    'a result may equal the placeholder',
  );
});

t.test('assigns each result to its call if a model reuses an id', async (t) => {
  const again = [asked('a1', ['c1']), answer('c1', '1'), asked('a2', ['c1']), answer('c1', PLACEHOLDER)];
  t.strictSame(ids(again), ['a1', 'c1: 1', 'a2', `c1: ${PLACEHOLDER}`]);
  t.strictSame(ids(again, waits(true)), ['a1', 'c1: 1', 'a2']);
  const other = [asked('a0', ['c1'], [], 'Q'), answer('c1', '0', 'Q'), ...again.slice(2)];
  t.strictSame(ids(other, waits(true)), ['a0', 'c1: 0', 'a2']);
});

t.test('converts to official messages: text as strings, media as parts, reasoning as messages', async (t) => {
  const thoughts: Message['content'] = [{ type: 'thinking', thinking: 'hm' }, ...text('Well')];
  const messages: Message[] = [
    { id: 's1', role: 'system', content: text('be') },
    { id: 'u1', role: 'user', content: [...text('a'), ...text('b')] },
    { id: 'u2', role: 'user', content: MEDIA },
    asked('a1', ['c1'], thoughts),
    answer('c1', PLACEHOLDER),
    answer('c1', '{"temp":7}'),
    asked('a2', []),
    { id: 't0', role: 'tool', content: text('of no call') },
    { id: 'i1', role: 'system', content: text('secret'), visibility: 'internal' },
  ];
  t.strictSame(convert(messages), [
    { id: 's1', role: 'system', content: 'be' },
    { id: 'u1', role: 'user', content: 'ab' },
    {
      id: 'u2',
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
        { type: 'document', source: { type: 'url', value: 'https://a.b/d' } },
      ],
    },
    { id: 'reasoning_a1', role: 'reasoning', content: 'hm' },
    { id: 'a1', role: 'assistant', content: 'Well', toolCalls: [call('c1')] },
    { id: 'c1: {"temp":7}', role: 'tool', toolCallId: 'c1', content: '{"temp":7}' },
  ]);
});
