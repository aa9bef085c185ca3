import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { textOf as textOfMessage } from '../../../src/schema/message.ts';
import { says } from '../agent-loop/agents.ts';
import { asks, hangs } from '../models.ts';
import { patchAgent } from '../patch-agent.ts';
import { viewOf } from '../view.ts';
import { find, RUN, startAgUi, textOf, told, typesOf, user } from './ag-ui.ts';

/** The content of AG-UI requests and its effect (chat-and-agui.md 2, 11, 17). */

t.test('starts a run on a new thread for a request without ids', async (t) => {
  const agUi = await startAgUi(t);
  const stream = await agUi.open(RUN, { agentId: 'echo', messages: [{ role: 'user', content: 'hi' }] });
  t.equal(stream.status, 200);
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  t.equal(stream.headers.get('cache-control'), 'no-cache');
  const rows = await stream.rest();
  t.ok(
    rows.every(({ id }) => id === undefined),
    'events have no positions',
  );
  const events = rows.map(({ frame }) => frame);
  const [first, last] = [events[0], events.at(-1)];
  t.equal(first?.type, 'RUN_STARTED');
  t.equal(last?.type, 'RUN_FINISHED');
  t.match(last, { threadId: first?.threadId, runId: first?.runId, result: { response: textOf(events) } });
  t.equal(textOf(events), 'echo: hi');
  t.notOk(last && ('interrupt' in last || 'outcome' in last));
  const view = viewOf(agUi, String(first?.threadId));
  const run = await view.run(first?.runId);
  t.match(run.activation?.trace, { adapter: 'ag_ui', origin: 'user', run_mode: 'foreground' });
  t.strictSame(run.activation?.options, {});
  await view.check(t);
});

t.test('does not offer the binary encoding, whatever the client accepts', async (t) => {
  const agUi = await startAgUi(t);
  const stream = await agUi.open(
    RUN,
    { agentId: 'echo', messages: [user('u1', 'hi')] },
    { accept: 'application/vnd.ag-ui.event+proto' },
  );
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  t.equal((await stream.rest()).at(-1)?.frame.type, 'RUN_FINISHED');
});

const REFUSED: [what: string, body: unknown, status: number, error?: RegExp][] = [
  ['no messages', { messages: [] }, 400, /at least one message is required/],
  ['an empty body', {}, 400, /at least one message is required/],
  ['unknown roles only', { messages: [{ role: 'alien', content: 'x' }] }, 400, /at least one message/],
  ['unknown parts only', { messages: [{ role: 'user', content: [{ type: 'foo' }] }] }, 400],
  ['a message without role', { messages: [{ content: 'x' }] }, 422],
  ['messages that are null', { messages: null }, 422],
  ['tools that are null', { messages: [user('u1', 'x')], tools: null }, 422],
  ['a tool without name', { messages: [user('u1', 'x')], tools: [{ description: 'x' }] }, 422],
  ['a thread id that is no text', { threadId: 5 }, 422],
  ['a thread id twice', { threadId: 'T', thread_id: 'T', messages: [user('u1', 'x')] }, 422],
  ['what is not JSON', '{', 400],
  ['an unknown agent', { agentId: 'nope', messages: [user('u1', 'x')] }, 400, /agent not found: nope/],
];

t.test('rejects unusable requests before storing anything', async (t) => {
  const agUi = await startAgUi(t);
  for (const [what, body, status, error = /./] of REFUSED) {
    const answer = await agUi.call('POST', RUN, body);
    t.equal(answer.status, status, what);
    t.match(answer.body.error, error, what);
  }
  const plain = await agUi.call('POST', RUN, '{}', { 'content-type': 'text/plain' });
  t.equal(plain.status, 415);
  t.equal((await agUi.call('GET', RUN)).status, 405);
  t.strictSame((await agUi.call('GET', '/v1/threads')).body.items, []);
});

t.test('prefers the path over the body, and keeps the agent of a thread', async (t) => {
  const agUi = await startAgUi(t);
  const body = { threadId: 'X', agentId: 'echo', messages: [user('u1', 'hi')] };
  const [started] = await agUi.ask(body, '/v1/ag-ui/threads/T/runs');
  t.equal(started?.threadId, 'T');
  agUi.models.steps.push(says('from steps'));
  const events = await agUi.ask({ ...body, messages: [user('u2', 'hi')] }, '/v1/ag-ui/agents/steps/runs');
  t.equal(textOf(events), 'from steps');
  t.equal(events[0]?.threadId, 'X');
  agUi.models.steps.push(says('still steps'));
  t.equal(textOf(await agUi.ask({ thread_id: 'X', messages: [user('u3', 'hi')] })), 'still steps');
});

t.test('stores every kind of content and ignores unknown parts', async (t) => {
  const agUi = await startAgUi(t);
  const png = { type: 'data', value: 'aGk=', mimeType: 'image/png' };
  const hosted = { type: 'url', value: 'https://example.com/a.png' };
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image', source: hosted },
    { type: 'image', source: png },
    { type: 'audio', source: { ...png, mimeType: 'audio/mpeg' } },
    { type: 'video', source: { ...png, mimeType: 'video/mp4' } },
    { type: 'document', source: { ...png, mimeType: 'application/pdf' } },
    { type: 'binary', mimeType: 'image/gif', data: 'aGk=' },
    { type: 'foo' },
  ];
  await agUi.ask({ threadId: 'T', agentId: 'echo', messages: [{ role: 'user', content }] });
  const [item] = (await agUi.items('T')).messages;
  t.strictSame(
    item?.content.map(({ type }) => type),
    ['text', 'image', 'image', 'audio', 'video', 'document', 'image'],
  );
  t.strictSame(item?.content[1], { type: 'image', source: { type: 'url', url: hosted.value } });
});

t.test('accepts attachments up to a limit', async (t) => {
  const agUi = await startAgUi(t);
  const image = (bytes: number) => {
    const source = { type: 'data', value: 'A'.repeat(bytes), mimeType: 'image/png' };
    return { threadId: 'T', agentId: 'echo', messages: [user('u1', [{ type: 'image', source }])] };
  };
  t.equal((await agUi.call('POST', RUN, image(12 * 1024 * 1024))).status, 413);
  t.equal((await agUi.call('POST', RUN, image(3 * 1024 * 1024))).status, 200);
});

t.test('passes client state and context to the model only, and ignores an echoed state', async (t) => {
  const agUi = await startAgUi(t);
  const start = { threadId: 'T', agentId: 'echo' };
  const context = [{ description: 'page', value: 'cart' }];
  const events = await agUi.ask({
    ...start,
    messages: [user('u1', 'hi')],
    state: { todos: ['x'] },
    context,
  });
  const snapshot = find(events.toReversed(), 'STATE_SNAPSHOT').snapshot;
  await agUi.ask({ ...start, messages: [user('u2', 'more')], state: snapshot, context: [] });
  await agUi.ask({ ...start, messages: [user('u3', 'and more')], state: {}, context: { page: 'cart' } });
  const internal = await viewOf(agUi, 'T').messages('&visibility=internal');
  t.strictSame(
    internal.map(({ content }) => textOfMessage(content)),
    [
      `<frontend-context>\n${JSON.stringify({ state: { todos: ['x'] }, context })}\n</frontend-context>`,
      '<frontend-context>\n{"page":"cart"}\n</frontend-context>',
    ],
  );
  t.notMatch(JSON.stringify(await agUi.items('T')), /frontend-context/);
  t.match(JSON.stringify(agUi.models.requests[0]?.request), /frontend-context/);
});

t.test('stores a resent conversation once', async (t) => {
  const agUi = await startAgUi(t);
  const start = { threadId: 'T', agentId: 'echo' };
  const first = await agUi.ask({ ...start, messages: [user('u1', 'one')] });
  const answer = { id: find(first, 'TEXT_MESSAGE_START').messageId, role: 'assistant', content: 'echo: one' };
  const whole = [user('u1', 'one'), answer, user('u2', 'two')];
  await agUi.ask({ ...start, messages: whole });
  t.strictSame(told(await agUi.items('T')), [
    'user: one',
    'assistant: echo: one',
    'user: two',
    'assistant: echo: two',
  ]);
  t.equal((await agUi.items('T')).messages[1]?.id, answer.id, 'streamed ids are those of the history');
});

t.test('runs again on the history when the last message is already stored', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(says('first'), says('second'));
  const body = { threadId: 'T', agentId: 'steps', messages: [user('u1', 'one')] };
  await agUi.ask(body);
  t.equal(textOf(await agUi.ask({ ...body, context: { page: 'cart' } })), 'second');
  t.strictSame(told(await agUi.items('T')), ['user: one', 'assistant: first', 'assistant: second']);
  t.equal(agUi.models.requests.at(-1)?.request.messages[0]?.role, 'user');
  await viewOf(agUi, 'T').check(t);
});

t.test('imports a foreign conversation into a thread without runs', async (t) => {
  const agUi = await startAgUi(t);
  await patchAgent(t, agUi, 'echo', { client_system_messages: true });
  const start = { threadId: 'T', agentId: 'echo' };
  const imported = [
    { id: 's', role: 'developer', content: 'Be short.' },
    user('u0', 'earlier'),
    { id: 'a0', role: 'assistant', content: 'said before' },
    { id: 'r0', role: 'reasoning', content: 'thought before' },
  ];
  await agUi.ask({ ...start, messages: [...imported, user('u1', 'one')] });
  const foreign = { id: 'a9', role: 'assistant', content: 'never said' };
  await agUi.ask({ ...start, messages: [...imported, foreign, user('u2', 'two')] });
  t.strictSame(told(await agUi.items('T')), [
    'system: Be short.',
    'user: earlier',
    'assistant: said before',
    'user: one',
    'assistant: echo: one',
    'user: two',
    'assistant: echo: two',
  ]);
});

t.test('ends the response to an unknown interrupt or call with an error event', async (t) => {
  const agUi = await startAgUi(t);
  const resume = { interruptId: 'int-1', payload: { approved: true } };
  for (const body of [
    { threadId: 'T', resume },
    { threadId: 'T', resume: [{ interruptId: 'int-1', status: 'resolved' }] },
    { threadId: 'T', messages: [{ id: 'r', role: 'tool', toolCallId: 'c', content: '1' }] },
  ]) {
    const events = await agUi.ask({ agentId: 'echo', ...body });
    t.strictSame(typesOf(events), ['RUN_ERROR']);
  }
  const events = await agUi.ask({ agentId: 'echo', threadId: 'T', resume, messages: [user('u1', 'hi')] });
  t.equal(textOf(events), 'echo: hi', 'an unknown interrupt with a message is ignored');
});

t.test('reports a failed run in its stream', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.failures.push(new ModelError('invalid_request', 'the model says no'));
  const events = await agUi.ask({ agentId: 'flaky', messages: [user('u1', 'hi')] });
  t.match(events.at(-1)?.message, /the model says no/);
  t.equal(events.at(-1)?.type, 'RUN_ERROR');
});

t.test('ends cleanly on exhausted rounds, empty completions and long texts', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(says(''));
  const silent = await agUi.ask({ agentId: 'steps', messages: [user('u1', 'hi')] });
  t.notOk(typesOf(silent).includes('TEXT_MESSAGE_START'));
  t.equal(silent.at(-1)?.type, 'RUN_FINISHED');
  agUi.models.steps.push(...Array.from({ length: 8 }, (_, round) => asks([`c${round}`, 'note'])));
  const stopped = await agUi.ask({ agentId: 'steps', messages: [user('u3', 'hi')] });
  t.match(stopped.at(-1), { type: 'RUN_FINISHED', result: { status_reason: 'stopped:max_rounds' } });
  const long = 'é🙂 "\n\n'.repeat(9_000);
  const events = await agUi.ask({ agentId: 'echo', messages: [user('u2', long)] });
  t.equal(textOf(events), `echo: ${long}`);
});

t.test('cancels the current run of the thread on a new request, and reports it in its stream', async (t) => {
  const agUi = await startAgUi(t);
  const start = { threadId: 'T', agentId: 'steps' };
  agUi.models.steps.push(hangs('half an ans'), says('whole'));
  const first = await agUi.open(RUN, { ...start, messages: [user('u1', 'one')] });
  await first.until('TEXT_MESSAGE_CONTENT');
  const second = await agUi.ask({ ...start, messages: [user('u1', 'one'), user('u2', 'two')] });
  const rest = (await first.rest()).map(({ frame }) => frame);
  const ending = ['TEXT_MESSAGE_END', 'STEP_FINISHED', 'STATE_SNAPSHOT', 'RUN_FINISHED'];
  t.strictSame(typesOf(rest), ['STATE_SNAPSHOT', ...ending]);
  t.match(rest.at(-1), { result: { status_reason: 'cancelled' } });
  t.equal(textOf(second), 'whole');
  t.strictSame(told(await agUi.items('T')), ['user: one', 'user: two', 'assistant: whole']);
});
