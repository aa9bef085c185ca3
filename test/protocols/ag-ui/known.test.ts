import t from 'tap';
import { knownMessages } from '../../../src/protocols/ag-ui/known.ts';
import type { Message } from '../../../src/schema/message.ts';

const text = (said: string): Message['content'] => [{ type: 'text', text: said }];
const user = (id: string): Message => ({ id, role: 'user', content: text(id) });
const calls = (id: string, call: string): Message => ({
  id,
  role: 'assistant',
  content: [],
  tool_calls: [{ id: call, name: 'look', arguments: {} }],
});
const result = (id: string, tool_call_id: string): Message => ({
  id,
  role: 'tool',
  tool_call_id,
  content: text('"r"'),
  metadata: { run_id: 'R' },
});
const answered = (id: string, toolCallId: string) => ({ id, role: 'tool', toolCallId, content: '"r"' });
const never = (): boolean => false;

const idsOf = (...given: Parameters<typeof knownMessages>): string[] =>
  knownMessages(...given).map(({ id }) => id);

t.test('includes staged messages of the request in the conversation', async (t) => {
  const { visibility, ...context } = { ...user('hidden'), visibility: 'internal' as const };
  const added = [{ ...context, visibility }, user('u1'), user('u2'), { ...user(''), id: undefined }];
  t.strictSame(idsOf({ history: [user('u1')], sent: [], added: added as Message[] }, never), ['u1', 'u2']);
});

t.test('keeps the ids of results from the client', async (t) => {
  const history = [
    calls('a1', 'c1'),
    result('placeholder', 'c1'),
    result('s1', 'c1'),
    calls('a2', 'c1'),
    result('s2', 'c1'),
    calls('a3', 'c1'),
    result('s3', 'c1'),
  ];
  const sent = [answered('mine', 'c1'), answered('s2', 'c1'), answered('other', 'c1'), answered('', 'c1')];
  t.strictSame(idsOf({ history, sent, added: [] }, never), ['a1', 'mine', 'a2', 's2', 'a3', 'other']);
});

t.test('omits results of suspended calls', async (t) => {
  const given = { history: [calls('a1', 'c1'), result('placeholder', 'c1')], sent: [], added: [] };
  t.strictSame(
    idsOf(given, (id) => id === 'c1'),
    ['a1'],
  );
  t.strictSame(idsOf(given, never), ['a1', 'placeholder']);
});
