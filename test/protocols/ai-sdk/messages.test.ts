import { safeValidateUIMessages } from 'ai';
import t from 'tap';
import { indexSuspensions, type Suspensions } from '../../../src/protocols/ai-sdk/suspensions.ts';
import type { Message } from '../../../src/schema/message.ts';
import { toUIMessages } from './ui-messages.ts';

/** chat-and-agui.md 8. */

const NONE: Suspensions = () => undefined;

const text = (value: string): Message['content'] => [{ type: 'text', text: value }];

const user = (id: string, content: Message['content']): Message => ({ id, role: 'user', content });

const asked = (id: string, calls: string[], content: Message['content'] = [], step_index = 0): Message => ({
  id,
  role: 'assistant',
  content,
  tool_calls: calls.map((call) => ({ id: call, name: 'look', arguments: { of: call } })),
  metadata: { run_id: 'R', step_index },
});

const answer = (call: string, value: string): Message => ({
  id: `${call}: ${value}`,
  role: 'tool',
  tool_call_id: call,
  content: text(value),
});

const suspended = (
  status: string,
  resume_mode: string,
  run: { status: 'waiting' | 'done' },
  ticket = 'perm_c1',
) =>
  indexSuspensions([
    {
      run_id: 'R',
      ...run,
      state: {
        revision: 1,
        extensions: {
          '__runtime.tool_call_states': {
            calls: {
              c1: { status, resume_mode, suspension_id: ticket },
              c2: { status: 'succeeded', resume_mode },
            },
          },
        },
      },
    },
  ]);

const convert = async (messages: Message[], suspensions: Suspensions = NONE) => {
  const converted = toUIMessages(messages, suspensions);
  if (converted.length > 0) {
    const checked = await safeValidateUIMessages({ messages: converted });
    if (!checked.success) throw checked.error;
  }
  return converted;
};

const toolPart = async (messages: Message[], suspensions?: Suspensions) =>
  (await convert(messages, suspensions))[0]?.parts[0];

t.test('converts texts and media to parts, and omits messages without any', async (t) => {
  const media: Message['content'] = [
    ...text('look'),
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    { type: 'audio', source: { type: 'url', url: 'https://a.b/c' } },
    { type: 'document', source: { type: 'url', url: 'https://a.b/d' }, title: 'd' },
    { type: 'tool_use', id: 'c', name: 'n', input: {} },
  ];
  t.strictSame(
    await convert([user('u1', media), user('u2', []), { id: 's1', role: 'system', content: text('be') }]),
    [
      {
        id: 'u1',
        role: 'user',
        parts: [
          { type: 'text', text: 'look' },
          { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
          { type: 'file', mediaType: 'audio/*', url: 'https://a.b/c' },
          { type: 'file', mediaType: 'application/octet-stream', url: 'https://a.b/d', filename: 'd' },
        ],
      },
      { id: 's1', role: 'system', parts: [{ type: 'text', text: 'be' }] },
    ],
  );
});

t.test('merges results into the parts of their calls', async (t) => {
  const thinking: Message['content'] = [{ type: 'thinking', thinking: 'hm' }, ...text('Let me look.')];
  const messages = [asked('a1', ['c1', 'c2'], thinking), answer('c1', '{"temp":7}'), answer('c2', 'seven')];
  const part = (id: string, output: unknown) => ({
    type: 'tool-look',
    toolName: 'look',
    toolCallId: id,
    state: 'output-available',
    input: { of: id },
    output,
    providerExecuted: true,
  });
  t.strictSame(await convert(messages), [
    {
      id: 'a1',
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Let me look.' },
        part('c1', { temp: 7 }),
        part('c2', 'seven'),
      ],
    },
  ]);
});

t.test('shows a call without a result as input, and omits a result without a call', async (t) => {
  t.match(await toolPart([asked('a1', ['c1'])]), { state: 'input-available', providerExecuted: true });
  t.strictSame(await convert([answer('c1', 'x')]), []);
  t.strictSame(await convert([answer('c1', 'x'), asked('a1', ['c1'])]), await convert([asked('a1', ['c1'])]));
});

t.test('assigns a result to the nearest earlier call if a model reuses an id', async (t) => {
  const first = [asked('a1', ['c1']), answer('c1', '1')];
  const converted = await convert([...first, asked('a2', ['c1'], [], 1), answer('c1', '2')]);
  t.match(converted, [{ parts: [{ output: 1 }] }, { parts: [{ output: 2 }] }]);
});

const PLACEHOLDER = "Tool 'look' suspended: awaiting decision";

t.test('shows the kind of a suspended call by its status rather than its text', async (t) => {
  const open = [asked('a1', ['c1']), answer('c1', PLACEHOLDER)];
  const waiting = { status: 'waiting' } as const;
  const approval = await toolPart(open, suspended('suspended', 'replay_tool_call', waiting));
  t.strictSame(approval, {
    type: 'tool-look',
    toolName: 'look',
    toolCallId: 'c1',
    state: 'approval-requested',
    input: { of: 'c1' },
    approval: { id: 'perm_c1' },
  });
  for (const [mode, ticket] of [
    ['use_decision_as_tool_result', 'suspend_c1'],
    ['pass_decision_to_tool', 'x'],
    ['replay_tool_call', ' '],
  ] as const) {
    const part = await toolPart(open, suspended('suspended', mode, waiting, ticket));
    t.match(part, { state: 'input-available' });
    t.notOk(part && 'providerExecuted' in part, 'the client returns the result');
  }
  t.match(
    await toolPart(open),
    { state: 'output-available', output: PLACEHOLDER },
    'a result may equal the placeholder',
  );
});

t.test('shows a call that can no longer be answered as input of the service', async (t) => {
  const open = [asked('a1', ['c1']), answer('c1', PLACEHOLDER)];
  for (const suspensions of [
    suspended('suspended', 'replay_tool_call', { status: 'done' }),
    suspended('cancelled', 'replay_tool_call', { status: 'done' }),
    suspended('running', 'use_decision_as_tool_result', { status: 'waiting' }),
  ]) {
    t.match(await toolPart(open, suspensions), { state: 'input-available', providerExecuted: true });
  }
});

t.test('replaces the placeholder with the result of a decision', async (t) => {
  const decided = [asked('a1', ['c1']), answer('c1', PLACEHOLDER), answer('c1', '{"temp":7}')];
  const wanted = { state: 'output-available', output: { temp: 7 }, providerExecuted: true };
  t.match(await toolPart(decided, suspended('succeeded', 'replay_tool_call', { status: 'done' })), wanted);
  t.match(await toolPart(decided), wanted);
});

t.test('treats only calls of the last step as suspended', async (t) => {
  const waiting = suspended('suspended', 'replay_tool_call', { status: 'waiting' });
  const messages = [
    asked('a1', ['c1']),
    answer('c1', '1'),
    asked('a2', ['c1'], [], 1),
    answer('c1', PLACEHOLDER),
  ];
  t.match(await convert(messages, waiting), [
    { parts: [{ state: 'output-available', output: 1 }] },
    { parts: [{ state: 'approval-requested' }] },
  ]);
});

t.test('shows a result with an inexact integer as text with all digits', async (t) => {
  const exact = '{"id":1234567890123456789}';
  t.match(await toolPart([asked('a1', ['c1']), answer('c1', exact)]), {
    state: 'output-available',
    output: exact,
  });
  t.match(await toolPart([asked('a1', ['c1']), answer('c1', '{"id":123}')]), { output: { id: 123 } });
});
