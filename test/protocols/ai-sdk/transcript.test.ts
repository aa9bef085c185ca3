import t from 'tap';
import { ChatBody } from '../../../src/protocols/ai-sdk/request.ts';
import { readTranscript } from '../../../src/protocols/ai-sdk/transcript.ts';
import { Invalid } from '../../../src/schema/outcome.ts';

/** Conversations as the official client sends them back. */

const read = (messages: object[], more: object = {}) => {
  let ids = 0;
  return readTranscript(ChatBody.parse({ messages, ...more }), () => {
    ids += 1;
    return `id${ids}`;
  });
};

const text = (said: string) => ({ type: 'text', text: said });
const STEP = { type: 'step-start' };
const user = (said: string) => ({ id: `u-${said}`, role: 'user', parts: [text(said)] });
const answer = (...parts: object[]) => ({ id: 'a1', role: 'assistant', parts });
const tool = (id: string, state: string, more: object = {}) => ({
  type: 'tool-make',
  toolCallId: id,
  state,
  input: { n: id },
  ...more,
});
const ended = (id: string, output: unknown) =>
  tool(id, 'output-available', { output, providerExecuted: true });
const asked = (id: string) => tool(id, 'approval-requested', { approval: { id: `perm_${id}` } });
const responded = (id: string, approved: boolean, reason?: string) =>
  tool(id, 'approval-responded', { approval: { id: `perm_${id}`, approved, ...(reason && { reason }) } });

/** The history with one line per message. */
const lines = ({ messages }: ReturnType<typeof read>): string[] =>
  messages.map(({ role, content, tool_calls, tool_call_id, visibility }) => {
    const said = content.map((block) => ('text' in block ? block.text : block.type)).join(' ');
    const calls = (tool_calls ?? []).map(({ id }) => ` asks ${id}`).join('');
    const about = tool_call_id === undefined ? '' : ` of ${tool_call_id}`;
    return `${visibility ?? ''}${role}${about}: ${said}${calls}`;
  });

t.test('converts a conversation to a history, step by step, with calls and results', async (t) => {
  const transcript = read([
    { role: 'system', parts: [text('be '), text('nice')] },
    user('hi'),
    answer(STEP, text('let me see'), ended('c1', { found: 1 }), ended('c2', 'plain'), STEP, text('one')),
    user('more'),
  ]);
  t.strictSame(lines(transcript), [
    'system: be nice',
    'user: hi',
    'assistant: let me see asks c1 asks c2',
    'tool of c1: {"found":1}',
    'tool of c2: plain',
    'assistant: one',
    'user: more',
  ]);
  t.match(transcript.messages[2]?.tool_calls, [{ id: 'c1', name: 'make', arguments: { n: 'c1' } }]);
  t.equal(new Set(transcript.messages.map(({ id }) => id)).size, 7);
  t.strictSame(transcript.waiting, []);
});

t.test('keeps an approved call of the last step suspended with its decision', async (t) => {
  const transcript = read([user('hi'), answer(STEP, text('shall I?'), responded('c1', true))]);
  t.strictSame(lines(transcript), ['user: hi', 'assistant: shall I? asks c1']);
  t.strictSame(transcript.waiting, [
    {
      call: { id: 'c1', name: 'make', arguments: { n: 'c1' } },
      ticket_id: 'perm_c1',
      resume_mode: 'replay_tool_call',
      decision: { action: 'resume', form: 'approval', payload: { id: 'perm_c1', approved: true } },
    },
  ]);
  t.strictSame(transcript.options, { continues: 'a1' });
});

t.test('keeps a denied call of the last step suspended with its decision and reason', async (t) => {
  const { waiting } = read([user('hi'), answer(STEP, responded('c1', false, 'no'))]);
  t.match(waiting, [
    { decision: { action: 'resume', form: 'approval', payload: { approved: false }, reason: 'no' } },
  ]);
});

t.test('applies a decision despite a newer user message, and announces the call again', async (t) => {
  const transcript = read([user('hi'), answer(STEP, responded('c1', true)), user('and now?')]);
  t.strictSame(lines(transcript), ['user: hi', 'assistant:  asks c1', 'user: and now?']);
  t.equal(transcript.waiting.length, 1);
  t.match(transcript.options.earlier?.('c1'), { name: 'make', arguments: { n: 'c1' } });
});

t.test('keeps an undecided call suspended alongside a decided one until a new user message', async (t) => {
  const both = answer(STEP, responded('c1', true), asked('c2'));
  const waiting = read([user('hi'), both]);
  t.match(waiting.waiting, [{ ticket_id: 'perm_c1' }, { ticket_id: 'perm_c2', decision: undefined }]);
  t.strictSame(lines(waiting), ['user: hi', 'assistant:  asks c1 asks c2']);
  const passedOver = read([user('hi'), both, user('never mind')]);
  t.match(passedOver.waiting, [{ ticket_id: 'perm_c1' }]);
  t.equal(passedOver.waiting.length, 1);
});

t.test('drops a call that was never decided', async (t) => {
  const transcript = read([user('hi'), answer(STEP, text('shall I?'), asked('c1')), user('no, wait')]);
  t.strictSame(lines(transcript), ['user: hi', 'assistant: shall I?', 'user: no, wait']);
  t.strictSame(transcript.waiting, []);
});

t.test('treats decisions of earlier steps and messages as history', async (t) => {
  const transcript = read([
    user('hi'),
    answer(STEP, responded('c1', true), responded('c2', false)),
    user('go on'),
    answer(
      STEP,
      tool('c3', 'output-denied', { approval: { approved: false, reason: 'not now' } }),
      STEP,
      text('ok'),
    ),
    user('again'),
  ]);
  t.strictSame(transcript.waiting, []);
  t.strictSame(lines(transcript), [
    'user: hi',
    'assistant:  asks c2',
    'tool of c2: Denied: this call was refused, and nothing was done',
    'user: go on',
    'assistant:  asks c3',
    'tool of c3: Denied: this call was refused, and nothing was done (not now)',
    'assistant: ok',
    'user: again',
  ]);
});

t.test('shows a failed call with its error', async (t) => {
  const failed = tool('c1', 'output-error', { errorText: 'it broke', providerExecuted: true });
  t.strictSame(lines(read([user('hi'), answer(STEP, failed), user('oh')])), [
    'user: hi',
    'assistant:  asks c1',
    'tool of c1: it broke',
    'user: oh',
  ]);
});

t.test('shows a failed call without an error text as failed', async (t) => {
  const failed = tool('c1', 'output-error', { providerExecuted: true });
  const odd = tool('c2', 'output-available', { output: 'done', errorText: 'stray', providerExecuted: true });
  t.strictSame(lines(read([answer(STEP, failed, odd), user('oh')])).slice(1, 3), [
    'tool of c1: {"error":"tool execution error"}',
    'tool of c2: done',
  ]);
});

t.test('ignores invalid parts and messages without any', async (t) => {
  const odd = {
    role: 'assistant',
    parts: [null, 5, {}, { type: 'tool-make' }, { type: 'reasoning', text: 'hm' }],
  };
  t.strictSame(lines(read([user('hi'), odd, { role: 'robot', parts: [text('beep')] }, user('there')])), [
    'user: hi',
    'user: there',
  ]);
});

t.test('places the state of the client first', async (t) => {
  t.strictSame(lines(read([user('hi')], { state: { page: 'agents' } })), [
    'internalsystem: <frontend-context>\n{"page":"agents"}\n</frontend-context>',
    'user: hi',
  ]);
});

t.test('accepts user files as attachments within the limits of a request', async (t) => {
  const file = (data: string) => ({
    type: 'file',
    mediaType: 'text/plain',
    url: `data:text/plain;base64,${data}`,
  });
  const one = { role: 'user', parts: [text('see'), file('aGk=')] };
  t.strictSame(lines(read([one])), ['user: see document']);
  t.throws(
    () => read([one, one, one, one, one]),
    new Invalid('attachments are limited to 4 files per request'),
  );
});

t.test('rejects an empty request', async (t) => {
  const nothing = new Invalid('no preview messages or interaction responses');
  t.throws(() => read([]), nothing);
  t.throws(() => read([{ role: 'user', parts: [] }]), nothing);
});

t.test('does not treat calls of the model provider as tool calls', async (t) => {
  const mark = { callProviderMetadata: { troupe: { executedBy: 'provider' } } };
  const searched = tool('p1', 'output-available', { output: {}, providerExecuted: true, ...mark });
  const failed = tool('p2', 'output-error', { errorText: 'no', providerExecuted: true, ...mark });
  const transcript = read([
    user('hi'),
    answer(STEP, searched, failed, text('Sunny.'), ended('c1', 1), STEP, text('one')),
    user('more'),
  ]);
  t.strictSame(lines(transcript), [
    'user: hi',
    'assistant: Sunny. asks c1',
    'tool of c1: 1',
    'assistant: one',
    'user: more',
  ]);
});
