import t from 'tap';
import { decodeChat, decodeTranscript, type ThreadView } from '../../../src/protocols/ai-sdk/decode.ts';
import { ChatBody } from '../../../src/protocols/ai-sdk/request.ts';
import { issuedBefore, NONE_ISSUED } from '../../tools/issued.ts';

/** chat-and-agui.md 2.5, 3, 10. */

const NOTHING: ThreadView = { has: () => false, runOf: () => undefined, tickets: [], issued: NONE_ISSUED };

const stored = (...ids: string[]): ThreadView => ({ ...NOTHING, has: (id) => ids.includes(id) });

const waiting = (...calls: string[]): ThreadView => ({
  ...NOTHING,
  tickets: calls.map((id) => ({
    ticket_id: `perm_${id}`,
    tool_call_id: id,
    resume_mode: 'replay_tool_call',
  })),
});

const decode = (body: object, thread: ThreadView = NOTHING) => decodeChat(ChatBody.parse(body), thread);

const says = (text: string, id?: string) => ({
  ...(id !== undefined && { id }),
  role: 'user',
  parts: [{ type: 'text', text }],
});

const text = (value: string) => [{ type: 'text', text: value }];

t.test('rejects a body of the wrong shape', async (t) => {
  const wrong = [
    { messages: null },
    { messages: {} },
    { messages: [{ parts: [] }] },
    { messages: [{ role: 'user', parts: null }] },
    { messages: [{ role: 'user', id: 5, parts: [] }] },
    { threadId: 5 },
    { agentId: 5 },
    { threadId: 'a', thread_id: 'a' },
    { threadId: null, thread_id: 'a' },
    { agentId: 'a', agent_id: 'b' },
    [],
    'text',
  ];
  for (const body of wrong) t.notOk(ChatBody.safeParse(body).success, JSON.stringify(body));
});

t.test('accepts thread and agent under either name, or the chat id as the thread', async (t) => {
  const named = (body: object) => {
    const { thread_id, agent_id } = ChatBody.parse(body);
    return [thread_id, agent_id];
  };
  t.strictSame(named({ threadId: ' T ', agent_id: ' a ', id: 'chat' }), ['T', 'a']);
  t.strictSame(named({ thread_id: 'T', agentId: null }), ['T', undefined]);
  t.strictSame(named({ threadId: '  ', id: ' chat ', agentId: ' ' }), ['chat', undefined]);
  t.strictSame(named({ threadId: null, id: 'chat' }), ['chat', undefined]);
  t.strictSame(named({ id: ' ' }), [undefined, undefined]);
  t.strictSame(named({}), [undefined, undefined]);
});

t.test('accepts the requests of the stock client with additional fields', async (t) => {
  const body = ChatBody.parse({
    id: 'chat',
    messages: [{ ...says('hi', 'u1'), metadata: { a: 1 }, content: 'old' }],
    trigger: 'regenerate-message',
    messageId: 'a1',
    model: 'x',
  });
  t.equal(body.regenerate, true);
  t.equal(ChatBody.parse({ trigger: 5, messageId: {} }).regenerate, false);
});

t.test('continues a named assistant message, or else the last message if it is one', async (t) => {
  const answer = (id: string | undefined) => ({ ...(id !== undefined && { id }), role: 'assistant' });
  const of = (body: object) => ChatBody.parse(body).continues;
  t.equal(of({ messages: [says('a', 'u1'), answer('a1')] }), 'a1');
  t.equal(of({ messages: [answer('a1'), says('a', 'u1')] }), undefined);
  t.equal(of({ messages: [answer('a1'), says('a', 'u1')], messageId: 'a1' }), 'a1');
  t.equal(of({ messages: [answer('a1'), says('a', 'u1')], messageId: 'u1' }), undefined);
  t.equal(of({ messages: [answer('a1'), answer('a2')], messageId: 'x' }), 'a2');
  t.equal(of({ messages: [answer(undefined)] }), undefined);
  t.equal(of({ messages: [answer('')] }), undefined);
});

t.test('converts messages to input, part by part, with their ids', async (t) => {
  const parts = [
    { type: 'text', text: 'look: ' },
    { type: 'file', url: 'data:image/PNG;base64,AAAA', mediaType: 'image/png', filename: 'a.png' },
    { type: 'text', text: 5 },
    { type: 'reasoning', text: 'no' },
    { type: 'step-start' },
    { type: 'data-x', data: 1 },
    { type: 5 },
    null,
    'text',
    { type: 'text', text: '' },
  ];
  t.strictSame(decode({ messages: [{ id: 'u1', role: 'user', parts }] }), {
    kind: 'input',
    decisions: [],
    messages: [
      {
        id: 'u1',
        role: 'user',
        content: [
          { type: 'text', text: 'look: ' },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
            title: 'a.png',
          },
          { type: 'text', text: '' },
        ],
      },
    ],
  });
});

t.test('accepts user and system messages only, and joins the texts of a system message', async (t) => {
  const system = { role: 'system', parts: [...text('a'), { type: 'file' }, ...text('b')] };
  const messages = [
    system,
    { role: 'assistant', parts: text('c') },
    { role: 'tool', parts: text('d') },
    says('e'),
  ];
  t.match(decode({ messages }), {
    messages: [
      { role: 'system', content: text('ab') },
      { role: 'user', content: text('e') },
    ],
  });
  const empty = [
    { role: 'user', content: 'text of another protocol' },
    { role: 'system', parts: [] },
  ];
  t.match(decode({ messages: [...empty, says('e')] }), { messages: { length: 1 } });
});

t.test('ignores messages that are stored, staged or repeated in the request', async (t) => {
  const messages = [says('a', 'u1'), says('b', 'u2'), says('c', 'u2'), says('d'), says('d'), says('e', '')];
  t.match(decode({ messages }, stored('u1')), {
    messages: [
      { id: 'u2', content: text('b') },
      { content: text('d') },
      { content: text('d') },
      { content: text('e') },
    ],
  });
});

t.test('rejects a request without new content', async (t) => {
  const error = { message: 'no new messages or interaction responses' };
  t.throws(() => decode({}), error);
  t.throws(() => decode({ state: { a: 1 } }), error);
  const unread = {
    message: /^no new messages or interaction responses: messages\[0\] has 'content', which is/,
  };
  t.throws(() => decode({ messages: [{ role: 'user', content: 'hi' }] }), unread);
  t.throws(() => decode({ messages: [says('a', 'u1')], trigger: 'regenerate-message' }, stored('u1')), error);
  const executed = { type: 'tool-x', toolCallId: 'c1', state: 'output-available', providerExecuted: true };
  t.throws(() => decode({ messages: [{ role: 'assistant', parts: [executed] }] }, waiting('c1')), error);
});

t.test('places the state of the frontend before new messages, for the model only', async (t) => {
  const first = (state: unknown) => {
    const request = decode({ messages: [says('hi')], ...(state !== undefined && { state }) });
    return request.kind === 'input' ? request.messages[0] : undefined;
  };
  t.strictSame(first({ todos: ['buy milk'] }), {
    role: 'system',
    visibility: 'internal',
    content: text('<frontend-context>\n{"todos":["buy milk"]}\n</frontend-context>'),
  });
  for (const said of [[1], 0, false, 'x', { revision: 1, extensions: {}, more: 1 }])
    t.equal(first(said)?.role, 'system', JSON.stringify(said));
  for (const nothing of [undefined, null, {}, [], '', { revision: 3, extensions: { a: 1 } }])
    t.equal(first(nothing)?.role, 'user', JSON.stringify(nothing));
});

const part = (state: string, more: object = {}) => ({ type: 'tool-look', toolCallId: 'c1', state, ...more });

const answered = (...parts: object[]) => ({ messages: [{ id: 'a1', role: 'assistant', parts }] });

const decisions = (body: object, thread = waiting('c1')) => {
  const request = decode(body, thread);
  return request.kind === 'input' ? request.decisions : request.kind;
};

t.test('converts responses in tool parts to decisions on suspended calls', async (t) => {
  const only = (...parts: object[]) => decisions(answered(...parts));
  const on = (action: string, payload: unknown, form = 'output') => [
    { tool_call_id: 'perm_c1', action, payload, form },
  ];
  t.strictSame(only(part('output-available', { output: { v: 1 } })), on('resume', { v: 1 }));
  t.strictSame(only(part('output-available')), on('resume', null));
  t.strictSame(only(part('output-error', { errorText: 'no' })), on('resume', { error: 'no' }));
  t.strictSame(only(part('output-error')), on('resume', { error: 'tool execution error' }));
  t.strictSame(only(part('output-denied')), on('cancel', { approved: false }, 'approval'));
  t.strictSame(
    only({ type: 'dynamic-tool', toolName: 'look', toolCallId: 'c1', state: 'output-available', output: 1 }),
    on('resume', 1),
  );
});

t.test('applies an approval to its ticket or its call', async (t) => {
  const approval = { id: 'perm_c1', approved: true };
  const only = (more: object) =>
    decisions(answered(part('approval-responded', { toolCallId: 'x', ...more })));
  const yes = [{ tool_call_id: 'perm_c1', action: 'resume', payload: approval, form: 'approval' }];
  t.strictSame(only({ approval }), yes);
  t.strictSame(only({ approval, approvalId: 'c1' }), yes);
  t.strictSame(only({ approval: { approved: true }, toolCallId: 'c1' }), [
    { ...yes[0], payload: { approved: true } },
  ]);
  t.strictSame(only({ approval: { id: 'perm_c1', approved: false, reason: 'no' } }), [
    {
      tool_call_id: 'perm_c1',
      action: 'resume',
      payload: { id: 'perm_c1', approved: false, reason: 'no' },
      form: 'approval',
      reason: 'no',
    },
  ]);
  t.match(only({ approval: { ...approval, digest: 'd' } }), [{ digest: 'd' }]);
  t.throws(() => only({ approval: 'yes' }), { message: 'no new messages or interaction responses' });
});

t.test('treats responses to calls that are not suspended as stale history', async (t) => {
  t.equal(decisions(answered(part('output-available')), NOTHING), 'stale');
  t.equal(decisions(answered(part('output-available')), waiting('c2')), 'stale');
  const ignored = [
    part('input-available'),
    part('approval-requested'),
    { ...part('output-available'), toolCallId: 5 },
    { ...part('output-available'), type: 'text' },
  ];
  for (const each of ignored) t.throws(() => decisions(answered(each)), { message: /no new messages/ });
  const fromUser = { messages: [{ role: 'user', parts: [part('output-available')] }] };
  t.throws(() => decisions(fromUser), { message: /no new messages/ });
});

t.test('uses the last response to a call, under either id', async (t) => {
  const body = answered(
    part('output-available', { output: 1 }),
    part('approval-responded', { approval: { id: 'perm_c1', approved: true } }),
    part('output-available', { toolCallId: 'c2', output: 2 }),
  );
  t.strictSame(decisions(body, waiting('c1', 'c2')), [
    {
      tool_call_id: 'perm_c1',
      action: 'resume',
      payload: { id: 'perm_c1', approved: true },
      form: 'approval',
    },
    { tool_call_id: 'perm_c2', action: 'resume', payload: 2, form: 'output' },
  ]);
});

t.test('cancels a question that a client declines', async (t) => {
  const [ticket] = waiting('c1').tickets;
  const question = { ...waiting(), tickets: [{ ...ticket, resume_mode: 'pass_decision_to_tool' as const }] };
  const refusal = part('approval-responded', { approval: { id: 'perm_c1', approved: false } });
  t.match(decisions(answered(refusal), question as ThreadView), [{ action: 'cancel' }]);
});

t.test('rejects a reused call id in a response, and ignores it in the history', async (t) => {
  const again: ThreadView = { ...waiting('c1'), issued: issuedBefore(['perm_c1'], ['c1', 'c1']) };
  const output = part('output-available', { output: 1 });
  t.throws(() => decisions(answered(output), again), {
    name: 'Conflict',
    message: "'c1' names more than one call; decide by ticket id",
  });
  const { messages } = answered(output);
  t.match(decode({ messages: [...messages, says('else', 'u2')] }, again), { decisions: { length: 0 } });
  t.throws(() => decode({ messages: [...messages, says('else', 'u2')], messageId: 'a1' }, again), {
    name: 'Conflict',
  });
});

t.test('does not apply an approval to a call whose id equals the ticket id', async (t) => {
  const thread = waiting('A', 'perm_A');
  const approval = part('approval-responded', {
    toolCallId: 'A',
    approval: { id: 'perm_A', approved: true },
  });
  t.match(decisions(answered(approval), thread), [{ tool_call_id: 'perm_A' }]);
  const output = part('output-error', { toolCallId: 'perm_A' });
  t.match(decisions(answered(output), thread), [{ tool_call_id: 'perm_perm_A' }]);
});

t.test('accepts decisions and new messages together', async (t) => {
  const { messages } = answered(part('output-available', { output: 1 }));
  t.match(decode({ messages: [...messages, says('and', 'u2')], state: { a: 1 } }, waiting('c1')), {
    kind: 'input',
    messages: [{ role: 'system' }, { id: 'u2' }],
    decisions: [{ tool_call_id: 'perm_c1' }],
  });
  t.match(decode({ messages, state: { a: 1 } }, waiting('c1')), { messages: { length: 0 } });
});

const file = (url: unknown, mediaType: unknown = 'text/plain') => ({ type: 'file', url, mediaType });

const plain = (bytes: number) =>
  file(`data:text/plain;base64,${Buffer.alloc(bytes, 'a').toString('base64')}`);

const attach = (...parts: object[]) => decode({ messages: [{ id: 'u1', role: 'user', parts }] });

t.test('rejects invalid attachments with the reason', async (t) => {
  const refused: [object, string | RegExp][] = [
    [file(undefined), /^invalid file attachment part: url/],
    [{ type: 'file', url: 'data:text/plain;base64,' }, /^invalid file attachment part: mediaType/],
    [file(`data:text/plain;base64,${'A'.repeat(11_185_834)}`), 'attachment data URL is too large'],
    [file('https://example.org/a.png'), 'file attachments must use data: URLs'],
    [file('data:text/plain,abc'), 'file attachments must use data: URLs'],
    [file('data:text/plain;charset=utf-8;base64,AAAA'), 'file attachments must use data: URLs'],
    [
      file('data:text/plain;base64,AAAA', 'image/png'),
      "file attachment mediaType 'image/png' does not match data URL MIME 'text/plain'",
    ],
    [
      file('data:application/octet-stream;base64,AAAA', 'application/octet-stream'),
      "file attachment MIME type 'application/octet-stream' is not allowed",
    ],
    [file('data:image/;base64,AAAA', 'image/'), "file attachment MIME type 'image/' is not allowed"],
  ];
  for (const data of ['AAA', 'AA==AA==', 'AA-_', 'AAA A', 'AB==', 'A', '====']) {
    refused.push([file(`data:text/plain;base64,${data}`), 'file attachment data URL is not valid base64']);
  }
  for (const [given, message] of refused) t.throws(() => attach(given), { message });
  t.throws(() => attach(...Array.from({ length: 5 }, () => plain(1))), {
    message: 'attachments are limited to 4 files per request',
  });
  t.throws(() => attach(plain(4_194_304), plain(4_194_305)), {
    message: 'attachments are limited to 8388608 bytes per request',
  });
});

t.test('accepts attachments up to the limits, classified by type', async (t) => {
  t.match(attach(plain(8_388_608)), { kind: 'input' });
  t.match(attach(...Array.from({ length: 4 }, () => plain(1))), { messages: [{ content: { length: 4 } }] });
  const types = [
    'image/svg+xml',
    'audio/wav',
    'video/mp4',
    'application/pdf',
    'text/markdown',
    'application/json',
  ];
  for (const [index, type] of ['image', 'audio', 'video', 'document', 'document', 'document'].entries()) {
    const mime = types[index];
    t.match(attach(file(`data:${mime};base64,AA==`, ` ${mime?.toUpperCase()} `)), {
      messages: [{ content: [{ type, source: { media_type: mime, data: 'AA==' } }] }],
    });
  }
});

t.test('ignores files in messages that are not input', async (t) => {
  const remote = [file('https://example.org/a.png', 'image/png')];
  const messages = [
    { id: 'a1', role: 'assistant', parts: remote },
    { id: 'u1', role: 'user', parts: remote },
  ];
  t.match(decode({ messages: [...messages, says('hi', 'u2')] }, stored('u1')), { messages: { length: 1 } });
});

t.test('reads a whole transcript with completions and responses to calls', async (t) => {
  const response = part('approval-responded', { input: { a: 1 }, approval: { id: 'p', approved: true } });
  const messages = [
    says('a', 'u1'),
    { id: 'a1', role: 'assistant', parts: [...text('b'), response] },
    says('c', 'u1'),
  ];
  t.match(decodeTranscript(ChatBody.parse({ messages, state: { x: 1 } })), {
    messages: [
      { role: 'system' },
      { content: text('a') },
      { role: 'assistant', content: text('b') },
      { content: text('c') },
    ],
    responses: [{ target: 'p', action: 'resume', call: { id: 'c1', name: 'look', arguments: { a: 1 } } }],
  });
  t.throws(() => decodeTranscript(ChatBody.parse({})), {
    message: 'no preview messages or interaction responses',
  });
});
