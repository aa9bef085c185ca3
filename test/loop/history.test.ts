import t from 'tap';
import { deniedText, INTERRUPTED, modelHistory } from '../../src/loop/history.ts';
import { type Message, textOf } from '../../src/schema/message.ts';
import fc from '../random.ts';

/** runtime.md 4.1, agent-loop.md 9.1. */

let made = 0;
const message = (role: Message['role'], text: string, more: Partial<Message> = {}): Message => {
  made += 1;
  return { id: `m${made}`, role, content: text === '' ? [] : [{ type: 'text', text }], ...more };
};
const user = (text: string): Message => message('user', text);
const asks = (text: string, ...ids: string[]): Message =>
  message('assistant', text, { tool_calls: ids.map((id) => ({ id, name: 'x', arguments: {} })) });
const result = (id: string, text: string): Message => message('tool', text, { tool_call_id: id });
const marker = (id: string): Message =>
  message('tool', '[tool call superseded]', { tool_call_id: id, visibility: 'internal' });
const refusal = (id: string, why: string): Message =>
  message('tool', deniedText(why), { tool_call_id: id, visibility: 'internal', metadata: { denied: true } });

/** One line per message: its role, the calls it makes or answers, and its text. */
const told = (history: readonly Message[]): string[] =>
  history.map(({ role, content, tool_calls, tool_call_id }) =>
    [role, ...(tool_calls ?? []).map(({ id }) => id), tool_call_id, textOf(content)]
      .filter((word) => word !== undefined && word !== '')
      .join(' '),
  );

t.test('returns a history with a result for every call unchanged', async (t) => {
  const plain = [user('hi'), asks('', 'c1', 'c2'), result('c1', 'one'), result('c2', 'two'), user('bye')];
  t.equal(modelHistory(plain), plain);
  const empty: Message[] = [];
  t.equal(modelHistory(empty), empty);
});

t.test('keeps internal messages that are not markers', async (t) => {
  const plain = [user('hi'), message('user', 'continue', { visibility: 'internal' })];
  t.equal(modelHistory(plain), plain);
});

t.test('adds an interrupted result to a call without one', async (t) => {
  const history = [asks('', 'c1', 'c2'), result('c1', 'one'), user('next')];
  t.same(told(modelHistory(history)), [
    'assistant c1 c2',
    'tool c1 one',
    `tool c2 ${INTERRUPTED}`,
    'user next',
  ]);
});

t.test('replaces a placeholder with a later result', async (t) => {
  const history = [
    asks('', 'c1', 'c2'),
    result('c1', 'awaiting decision'),
    result('c2', 'two'),
    user('meanwhile'),
    result('c1', 'one'),
    user('next'),
  ];
  t.same(told(modelHistory(history)), [
    'assistant c1 c2',
    'tool c1 one',
    'tool c2 two',
    'user meanwhile',
    'user next',
  ]);
});

t.test('orders results by their calls', async (t) => {
  const history = [asks('', 'c1', 'c2'), result('c2', 'two'), result('c1', 'one')];
  t.same(told(modelHistory(history)), ['assistant c1 c2', 'tool c1 one', 'tool c2 two']);
});

t.test('removes a retracted call with its placeholder and marker', async (t) => {
  const history = [
    asks('both', 'c1', 'c2'),
    result('c1', 'awaiting decision'),
    result('c2', 'two'),
    marker('c1'),
    user('next'),
  ];
  t.same(told(modelHistory(history)), ['assistant c2 both', 'tool c2 two', 'user next']);
});

t.test('keeps the text of a message whose calls are all retracted, and removes it if empty', async (t) => {
  for (const [text, left] of [
    ['let me see', ['assistant let me see', 'user next']],
    ['', ['user next']],
  ] as const) {
    const seen = modelHistory([asks(text, 'c1'), result('c1', 'waits'), marker('c1'), user('next')]);
    t.same(told(seen), left);
    for (const each of seen) t.notOk('tool_calls' in each);
  }
});

t.test('uses the denial as the result of a denied call', async (t) => {
  const history = [
    asks('', 'c1', 'c2', 'c3'),
    result('c1', 'awaiting decision'),
    result('c2', 'two'),
    result('c3', 'awaiting decision'),
    marker('c3'),
    refusal('c1', 'too risky'),
    user('next'),
  ];
  t.same(told(modelHistory(history)), [
    'assistant c1 c2',
    `tool c1 ${deniedText('too risky')}`,
    'tool c2 two',
    'user next',
  ]);
});

t.test('removes a call that only has a marker', async (t) => {
  t.same(told(modelHistory([user('hi'), asks('', 'c1'), marker('c1')])), ['user hi']);
});

t.test('retracts a call by a marker after messages of other runs', async (t) => {
  const history = [
    asks('', 'c1'),
    result('c1', 'awaiting decision'),
    user('another run'),
    asks('', 'c2'),
    result('c2', 'two'),
    message('assistant', 'done'),
    marker('c1'),
    user('next'),
  ];
  t.same(told(modelHistory(history)), [
    'user another run',
    'assistant c2',
    'tool c2 two',
    'assistant done',
    'user next',
  ]);
});

t.test('keeps other calls with the id of a retracted call', async (t) => {
  const again = [asks('', 'c1'), result('c1', 'again')];
  const first = [asks('', 'c1'), result('c1', 'first')];
  const gone = [asks('', 'c1'), result('c1', 'waits'), marker('c1')];
  t.same(told(modelHistory([...gone, ...again])), ['assistant c1', 'tool c1 again']);
  t.same(told(modelHistory([...first, ...gone])), ['assistant c1', 'tool c1 first']);
  t.same(told(modelHistory([...first, ...gone, ...again])), [
    'assistant c1',
    'tool c1 first',
    'assistant c1',
    'tool c1 again',
  ]);
});

t.test('does not use a result for an earlier step with the same id', async (t) => {
  const history = [asks('', 'c1'), asks('', 'c1'), result('c1', 'one')];
  t.same(told(modelHistory(history)), [
    'assistant c1',
    `tool c1 ${INTERRUPTED}`,
    'assistant c1',
    'tool c1 one',
  ]);
});

t.test('ignores a result after the retraction', async (t) => {
  const history = [asks('', 'c1'), marker('c1'), result('c1', 'late'), user('next')];
  t.same(told(modelHistory(history)), ['user next']);
});

t.test('removes a result without a call', async (t) => {
  t.same(told(modelHistory([user('hi'), result('c9', 'what?')])), ['user hi']);
});

t.test('reuses messages that need no repair, and does not modify its input', async (t) => {
  const history = [user('hi'), asks('both', 'c1', 'c2'), result('c2', 'two'), marker('c1')];
  const before = structuredClone(history);
  const seen = modelHistory(history);
  t.equal(seen[0], history[0]);
  t.equal(seen[2], history[2]);
  t.same(history, before);
});

const callId = fc.constantFrom('c1', 'c2', 'c3');
const text = fc.constantFrom('', 'some text');
const callIds = fc.uniqueArray(callId, { minLength: 1 });
/** A valid step, except that a result may be missing or replaced by a marker. */
const step = fc
  .tuple(text, callIds, fc.infiniteStream(fc.constantFrom(result, result, marker, undefined)))
  .map(([said, ids, answers]) => [
    asks(said, ...ids),
    ...ids.flatMap((id) => answers.next().value?.(id, 'done') ?? []),
  ]);
const anything = fc.oneof(
  text.map(user),
  fc.tuple(text, callIds).map(([said, ids]) => asks(said, ...ids)),
  fc.tuple(callId, text).map(([id, said]) => result(id, said)),
  callId.map(marker),
);
/** Messages in any order; only the calls of one message have different ids. */
const anyHistory = fc
  .array(
    fc.oneof(
      step,
      anything.map((one) => [one]),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.flat());

t.test('places exactly one result after each call, and no other result', async () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const open: string[] = [];
      for (const { role, tool_calls = [], tool_call_id, visibility } of modelHistory(history)) {
        if (role === 'tool') {
          if (tool_call_id !== open.shift() || visibility === 'internal') return false;
        } else if (open.length > 0) return false;
        open.push(...tool_calls.map(({ id }) => id));
      }
      return open.length === 0;
    }),
    { numRuns: 1000 },
  );
});

t.test('returns a history that needs no further repair', async () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const seen = modelHistory(history);
      return modelHistory(seen) === seen;
    }),
    { numRuns: 1000 },
  );
});

/** The literal definition: a marker among the tool messages of a call removes it, otherwise the last one counts. */
const reference = (history: readonly Message[]): string[] => {
  const ownerOf = (index: number): number =>
    history
      .slice(0, index)
      .findLastIndex(({ tool_calls }) => tool_calls?.some(({ id }) => id === history[index]?.tool_call_id));
  return history.flatMap((each, place) => {
    if (each.role === 'tool') return [];
    if (!each.tool_calls) return told([each]);
    const calls = each.tool_calls
      .map(({ id }) => ({
        id,
        answers: history.filter((answer, index) => answer.tool_call_id === id && ownerOf(index) === place),
      }))
      .filter(({ answers }) => answers.every(({ visibility }) => visibility !== 'internal'));
    if (calls.length === 0 && each.content.length === 0) return [];
    const ids = calls.map(({ id }) => id);
    return [
      ...told([asks(textOf(each.content), ...ids)]),
      ...told(calls.map(({ id, answers }) => answers.at(-1) ?? result(id, INTERRUPTED))),
    ];
  });
};

t.test('matches the definition', async () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const expected = reference(history);
      return told(modelHistory(history)).join('\n') === expected.join('\n');
    }),
    { numRuns: 1000 },
  );
});
