import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import t from 'tap';
import { type AgUiThread, decodeAgUi } from '../../../src/protocols/ag-ui/decode.ts';
import { AgUiBody } from '../../../src/protocols/ag-ui/request.ts';
import { issuedBefore, NONE_ISSUED } from '../../tools/issued.ts';

/** chat-and-agui.md 2.5, 11, 13.2. */

const NEW: AgUiThread = { has: () => false, fresh: true, tickets: [], issued: NONE_ISSUED };

const stored = (...ids: string[]): AgUiThread => ({
  has: (id) => ids.includes(id),
  fresh: false,
  tickets: [],
  issued: NONE_ISSUED,
});

const permission = (call: string) =>
  ({ ticket_id: `perm_${call}`, tool_call_id: call, resume_mode: 'replay_tool_call' }) as const;

const forClient = (call: string) =>
  ({ ticket_id: `suspend_${call}`, tool_call_id: call, resume_mode: 'use_decision_as_tool_result' }) as const;

const waiting = (...tickets: AgUiThread['tickets']): AgUiThread => ({ ...stored('u1'), tickets });

const decode = (body: object, thread = NEW) => decodeAgUi(AgUiBody.parse(body), thread);

const input = (body: object, thread = NEW) => {
  const request = decode(body, thread);
  if (request.kind !== 'input') throw new Error(request.kind);
  return request;
};

const says = (content: unknown, id?: string) => ({ ...(id !== undefined && { id }), role: 'user', content });

const text = (value: string) => [{ type: 'text', text: value }];

t.test('rejects a body of the wrong shape', async (t) => {
  const wrong = [
    { messages: null },
    { messages: {} },
    { messages: [{ content: 'hi' }] },
    { messages: [{ role: 'user', id: 5, content: 'hi' }] },
    { threadId: 5 },
    { agentId: 5 },
    { threadId: 'a', thread_id: 'a' },
    { agentId: null, agent_id: 'b' },
    { tools: null },
    { tools: [{ description: 'x' }] },
    { tools: [{ name: 'x', parameters: 'y' }] },
    { resume: 'yes' },
    { resume: [{ status: 'resolved' }] },
    { resume: [{ interruptId: 'a', status: 'perhaps' }] },
    { resume: { interruptId: 'a', interrupt_id: 'a' } },
    [],
    'text',
  ];
  for (const body of wrong) t.notOk(AgUiBody.safeParse(body).success, JSON.stringify(body));
});

t.test('accepts thread and agent under either name, trimmed', async (t) => {
  const named = (body: object) => {
    const { thread_id, agent_id } = AgUiBody.parse(body);
    return [thread_id, agent_id];
  };
  t.strictSame(named({ threadId: ' T ', agent_id: ' a ' }), ['T', 'a']);
  t.strictSame(named({ thread_id: 'T', agentId: null }), ['T', undefined]);
  t.strictSame(named({ threadId: '  ', agentId: '' }), [undefined, undefined]);
  t.strictSame(named({ runId: 'r', parentRunId: 5, protocolVersion: '1.0', forwardedProps: [] }), [
    undefined,
    undefined,
  ]);
});

t.test('accepts the requests of the official client, with and without optional fields', async (t) => {
  const full = {
    threadId: 'T',
    runId: 'r',
    protocolVersion: '1.0',
    state: { a: 1 },
    messages: [
      { id: 'u1', role: 'user', content: 'hi' },
      { id: 'r1', role: 'reasoning', content: 'hm' },
      { id: 'a1', role: 'assistant', toolCalls: [call('c1')] },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: '42' },
    ],
    tools: [{ name: 'pick', description: 'Picks.', parameters: { type: 'object' } }],
    context: [{ description: 'page', value: 'home' }],
    forwardedProps: { x: 1 },
    resume: [{ interruptId: 'i1', status: 'resolved', payload: { approved: true } }],
  };
  t.ok(RunAgentInputSchema.safeParse(full).success);
  t.match(input(full).messages, [{ visibility: 'internal' }, { id: 'u1' }]);
  t.match(input({ messages: [says('hi')] }), { messages: [{ content: text('hi') }], decisions: [] });
});

const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });

t.test('fills missing fields of client tools', async (t) => {
  const { tools } = AgUiBody.parse({
    tools: [
      { name: 'a', metadata: 1 },
      { name: 'b', description: 'B', parameters: { type: 'object', x: 1 } },
    ],
  });
  t.strictSame(tools, [
    { name: 'a', description: 'Frontend tool', parameters: { type: 'object', properties: {} } },
    { name: 'b', description: 'B', parameters: { type: 'object', x: 1 } },
  ]);
  t.strictSame(AgUiBody.parse({}).tools, []);
});

t.test('converts messages to input, part by part, with their ids', async (t) => {
  const parts = [
    { type: 'text', text: 'look: ' },
    { type: 'image', source: { type: 'url', value: 'https://a.b/c.png', mimeType: 'image/png' } },
    { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' }, metadata: { x: 1 } },
    { type: 'audio', source: { type: 'url', value: 'https://a.b/c' } },
    { type: 'video', source: { type: 'data', value: 'AA==', mimeType: 'video/mp4' } },
    { type: 'document', source: { type: 'data', value: 'AA==', mimeType: 'application/pdf' } },
    { type: 'binary', mimeType: 'IMAGE/png', data: 'AAAA', url: 'https://a.b' },
    { type: 'binary', mimeType: 'application/pdf', url: 'https://a.b/d', filename: 'd.pdf' },
    { type: 'binary', mimeType: 'image/png', id: 'file-1' },
    { type: 'image', source: { type: 'file', value: 'file-1' } },
    { type: 'image', source: { type: 'data', value: 'AAAA' } },
    { type: 'image' },
    { type: 'text', text: 5 },
    { type: 'foo' },
    null,
    'text',
  ];
  const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
  t.strictSame(input({ messages: [says(parts, 'u1')] }), {
    kind: 'input',
    decisions: [],
    answered: [],
    messages: [
      {
        id: 'u1',
        role: 'user',
        content: [
          { type: 'text', text: 'look: ' },
          { type: 'image', source: { type: 'url', url: 'https://a.b/c.png', media_type: 'image/png' } },
          { type: 'image', source: base64('image/png', 'AAAA') },
          { type: 'audio', source: { type: 'url', url: 'https://a.b/c' } },
          { type: 'video', source: base64('video/mp4', 'AA==') },
          { type: 'document', source: base64('application/pdf', 'AA==') },
          { type: 'image', source: base64('IMAGE/png', 'AAAA') },
          { type: 'document', source: { type: 'url', url: 'https://a.b/d', media_type: 'application/pdf' } },
          { type: 'image', source: { type: 'file', file_id: 'file-1' } },
        ],
      },
    ],
  });
});

t.test('converts system and developer messages to text, and ignores other roles', async (t) => {
  const messages = [
    { role: 'system', content: [...text('a'), { type: 'foo' }, ...text('b')] },
    { role: 'developer', content: 'c' },
    { role: 'reasoning', content: 'd' },
    { role: 'activity', content: { e: 1 } },
    { role: 'other', content: 'f' },
    { role: 'tool', toolCallId: 'c1', content: 'g' },
    { role: 'system', content: [] },
    says(null),
    says(5),
    says([{ type: 'foo' }]),
    says('h'),
  ];
  t.strictSame(input({ messages }).messages, [
    { role: 'system', content: text('ab') },
    { role: 'system', content: text('c') },
    { role: 'user', content: text('h') },
  ]);
});

t.test('imports client completions into a thread without runs, and ignores them otherwise', async (t) => {
  const messages = [
    says('a', 'u1'),
    { id: 'a1', role: 'assistant', content: 'b', toolCalls: [call('c1')] },
    { id: 'a2', role: 'assistant', content: '' },
    { id: 'a3', role: 'assistant', toolCalls: [call('c2')] },
    says('c', 'u2'),
  ];
  t.strictSame(input({ messages }).messages, [
    { id: 'u1', role: 'user', content: text('a') },
    { id: 'a1', role: 'assistant', content: text('b') },
    { id: 'u2', role: 'user', content: text('c') },
  ]);
  t.match(input({ messages }, stored()).messages, [{ id: 'u1' }, { id: 'u2' }]);
});

t.test('ignores messages that are stored, staged or repeated in the request', async (t) => {
  const messages = [says('a', 'u1'), says('b', 'u2'), says('c', 'u2'), says('d'), says('d'), says('e', '')];
  t.strictSame(input({ messages }, stored('u1')).messages, [
    { id: 'u2', role: 'user', content: text('b') },
    { role: 'user', content: text('d') },
    { role: 'user', content: text('d') },
    { role: 'user', content: text('e') },
  ]);
});

t.test('rejects a request without new content', async (t) => {
  const error = { message: 'at least one message is required' };
  const nothing = [
    {},
    { messages: [] },
    { state: { a: 1 } },
    { messages: [{ role: 'other', content: 'x' }] },
    { messages: [says([{ type: 'foo' }])] },
    { resume: [] },
    { resume: null },
    { resume: { payload: { approved: true } } },
    { messages: [says('a', 'u1'), { id: 'a1', role: 'assistant', content: 'known' }] },
  ];
  for (const body of nothing) t.throws(() => decode(body, stored('u1', 'a1')), error, JSON.stringify(body));
});

t.test('runs a known question at the end again', async (t) => {
  const messages = [{ id: 'a1', role: 'assistant', content: 'old' }, says('a', 'u1')];
  t.strictSame(decode({ messages }, stored('u1')), {
    kind: 'input',
    messages: [],
    decisions: [],
    answered: [],
  });
  t.match(input({ messages, state: { a: 1 } }, stored('u1')).messages, [{ visibility: 'internal' }]);
});

t.test('places the state of the frontend before new messages, for the model only', async (t) => {
  const told = (body: object) => {
    const [first, second] = input({ ...body, messages: [says('hi')] }).messages;
    if (!second) return undefined;
    const [block] = first?.content ?? [];
    t.match(first, { role: 'system', visibility: 'internal' });
    return block?.type === 'text' ? block.text.split('\n')[1] : undefined;
  };
  const echo = { revision: 3, extensions: { a: 1 } };
  const page = [{ description: 'page', value: 'home' }];
  const cases: [unknown, unknown, unknown][] = [
    [undefined, undefined, undefined],
    [null, null, undefined],
    [{}, [], undefined],
    [echo, [], undefined],
    [undefined, page, page],
    [{}, page, page],
    [echo, page, page],
    [echo, { b: 2 }, { b: 2 }],
    [{ a: 1 }, undefined, { a: 1 }],
    [{ a: 1 }, [], { a: 1 }],
    [{ a: 1 }, page, { state: { a: 1 }, context: page }],
    [{ a: 1, b: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1 }, 'text', { a: 1 }],
    ['text', { b: 2 }, 'text'],
    [[1], page, { state: [1], context: page }],
  ];
  for (const [state, context, value] of cases) {
    const body = { ...(state !== undefined && { state }), ...(context !== undefined && { context }) };
    t.equal(told(body), value === undefined ? undefined : JSON.stringify(value), JSON.stringify(body));
  }
});

const resume = (resume: unknown, thread = waiting(permission('c1'))) => input({ resume }, thread).decisions;

t.test('decides suspended calls by ticket id or call id', async (t) => {
  const yes = { approved: true };
  const on = (action: string, payload: unknown) => [
    { tool_call_id: 'perm_c1', action, payload, form: 'approval' },
  ];
  for (const interruptId of ['perm_c1', 'c1']) {
    t.strictSame(resume([{ interruptId, status: 'resolved', payload: yes }]), on('resume', yes));
  }
  t.strictSame(resume([{ interruptId: 'c1', status: 'resolved', metadata: { x: 1 } }]), on('resume', null));
  t.strictSame(resume([{ interruptId: 'c1', status: 'cancelled' }]), on('cancel', { approved: false }));
  t.strictSame(resume([{ interruptId: 'c1', status: 'cancelled', payload: 'no' }]), on('cancel', 'no'));
  t.strictSame(resume({ interruptId: 'perm_c1', payload: yes }), on('resume', yes));
  t.strictSame(resume({ interrupt_id: 'perm_c1' }), on('resume', null));
});

t.test('passes on a payload unchanged, with the digest of the metadata', async (t) => {
  const entry = [{ interruptId: 'c1', status: 'resolved', payload: { approved: false } }];
  t.match(resume(entry), [{ action: 'resume', payload: { approved: false }, form: 'approval' }]);
  t.match(resume(entry, waiting(forClient('c1'))), [{ action: 'resume', payload: { approved: false } }]);
  t.match(resume([{ ...entry[0], metadata: { digest: 'd' } }]), [{ digest: 'd' }]);
});

t.test('ignores decisions on other calls, and has nothing to run without messages', async (t) => {
  const stale = { interruptId: 'old', status: 'resolved' };
  t.match(resume([stale, { interruptId: 'c1', status: 'resolved' }]), [{ tool_call_id: 'perm_c1' }]);
  t.strictSame(decode({ resume: [stale] }, waiting(permission('c1'))), { kind: 'stale' });
  t.strictSame(decode({ resume: { interruptId: 'int-1', payload: { approved: true } } }), { kind: 'stale' });
  t.strictSame(decode({ resume: [stale], messages: [says('a', 'u1')] }, stored('u1')), { kind: 'stale' });
  t.match(decode({ resume: [stale], messages: [says('b', 'u2')] }, stored('u1')), {
    messages: [{ id: 'u2' }],
    decisions: { length: 0 },
  });
});

const result = (more: object) => ({ role: 'tool', toolCallId: 'c1', id: 't1', ...more });

t.test('uses a tool message as the result of a suspended call', async (t) => {
  const of = (more: object) => {
    const { decisions, answered } = input({ messages: [result(more)] }, waiting(forClient('c1')));
    t.strictSame(answered, ['c1']);
    t.match(decisions, [{ tool_call_id: 'suspend_c1', action: 'resume', form: 'output' }]);
    return decisions[0]?.payload;
  };
  t.equal(of({ content: '42' }), 42);
  t.strictSame(of({ content: '{"v":1}' }), { v: 1 });
  t.equal(of({ content: 'red' }), 'red');
  t.equal(of({ content: [...text('re'), ...text('d')] }), 'red');
  t.equal(of({}), null);
  t.strictSame(of({ content: '', error: 'no' }), { error: 'no' });
});

t.test('rejects a reused call id in a response, and ignores it in the history', async (t) => {
  const thread = { ...waiting(forClient('c1')), issued: issuedBefore(['suspend_c1'], ['c1', 'c1']) };
  const early = result({ content: '1' });
  t.throws(() => decode({ messages: [early] }, thread), {
    name: 'Conflict',
    message: /decide by ticket id/,
  });
  const asked = { role: 'assistant', id: 'a2', content: '' };
  t.match(input({ messages: [early, asked, says('b', 'u2')] }, thread), { decisions: { length: 0 } });
});

t.test('treats tool messages of finished calls as history', async (t) => {
  const past = result({ content: '1' });
  t.throws(() => decode({ messages: [past] }, stored('t1')), { message: /at least one message/ });
  t.strictSame(decode({ messages: [past] }, stored()), { kind: 'stale' });
  t.match(decode({ messages: [past, says('a')] }, waiting(forClient('c2'))), {
    messages: [{ role: 'user' }],
    decisions: { length: 0 },
    answered: { length: 0 },
  });
  t.throws(() => decode({ messages: [{ role: 'tool', content: 'of no call' }] }), {
    message: /at least one/,
  });
});

t.test('accepts decisions and new messages together, and state only with messages', async (t) => {
  const body = { state: { a: 1 }, resume: [{ interruptId: 'c1', status: 'resolved' }] };
  const thread = waiting(permission('c1'), forClient('c2'));
  t.match(decode({ ...body, messages: [says('a', 'u2'), result({ toolCallId: 'c2' })] }, thread), {
    messages: [{ role: 'system' }, { id: 'u2' }],
    decisions: [{ tool_call_id: 'suspend_c2' }, { tool_call_id: 'perm_c1' }],
    answered: ['c2'],
  });
  t.match(decode({ ...body, messages: [says('a', 'u1')] }, thread), { messages: { length: 0 } });
});
