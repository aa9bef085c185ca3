import { UI_MESSAGE_STREAM_HEADERS } from 'ai';
import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { hasStandby } from '../../cluster/mode.ts';
import { find, framesOf, startChat, textOf, typesOf, user } from './chat.ts';

/** Requests that start runs (chat-and-agui.md 3, 17). */

t.test('responds with a stream of frames from start to finish', async (t) => {
  const chat = await startChat(t);
  const stream = await chat.open('/v1/ai-sdk/chat', { agentId: 'default', messages: [user('u1', 'hi')] });
  t.equal(stream.status, 200);
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  const { 'x-accel-buffering': _, ...official } = UI_MESSAGE_STREAM_HEADERS;
  for (const [name, value] of Object.entries(official)) {
    // A header of one connection is not forwarded.
    if (hasStandby && name === 'connection') continue;
    t.equal(stream.headers.get(name), value, name);
  }
  const numbered = await stream.rest();
  const frames = framesOf(numbered);
  t.equal(frames[0]?.type, 'start');
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
  t.notOk(stream.raw().includes('[DONE]'));
  const ids = numbered.map(({ id }) => Number(id));
  t.strictSame(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  t.equal(new Set(ids).size, ids.length);
  t.type(find(frames, 'data-run-info').data, 'object');
});

t.test('uses the thread of the request by any of its names, or a new one', async (t) => {
  const chat = await startChat(t);
  const threadOf = async (path: string, more: object) => {
    const stream = await chat.open(path, { agentId: 'echo', messages: [user('u1', 'hi')], ...more });
    const { data } = find(framesOf(await stream.rest()), 'data-run-info');
    return (data as { threadId: string }).threadId;
  };
  t.equal(await threadOf('/v1/ai-sdk/chat', { threadId: 'A' }), 'A');
  t.equal(await threadOf('/v1/ai-sdk/chat', { thread_id: ' B ' }), 'B');
  t.equal(await threadOf('/v1/ai-sdk/chat', { id: 'C' }), 'C');
  t.equal(await threadOf('/v1/ai-sdk/chat', { id: 'D', threadId: 'E' }), 'E');
  t.match(await threadOf('/v1/ai-sdk/chat', { threadId: '   ' }), /^[0-9a-f-]{36}$/);
  t.equal(await threadOf('/v1/ai-sdk/threads/F/runs', { threadId: 'X' }), 'F');
  t.equal((await chat.call('GET', '/v1/threads/X')).status, 404);
});

t.test('uses the named agent, then the last agent of the thread, then the default agent', async (t) => {
  const chat = await startChat(t);
  const agentOf = async (threadId: string, id: string, agentId?: string) => {
    await (
      await chat.open('/v1/ai-sdk/chat', {
        threadId,
        ...(agentId && { agentId }),
        messages: [user(id, 'hi')],
      })
    ).rest();
    return (await chat.call('GET', `/v1/threads/${threadId}/runs/latest`)).body.agent_id;
  };
  t.equal(await agentOf('A', 'u1'), 'default');
  t.equal(await agentOf('B', 'u1', 'echo'), 'echo');
  t.equal(await agentOf('B', 'u2'), 'echo');
  const named = await chat.open('/v1/ai-sdk/agents/echo/runs', {
    agentId: 'default',
    threadId: 'C',
    messages: [user('u1', 'hi')],
  });
  t.equal(textOf(framesOf(await named.rest())), 'echo: hi');
  const unknown = await chat.post('/v1/ai-sdk/chat', { agentId: 'nope', messages: [user('u1', 'hi')] });
  t.equal(unknown.status, 400);
  t.match(unknown.body.error, 'agent not found: nope');
});

t.test('rejects invalid chat requests', async (t) => {
  const chat = await startChat(t);
  const refused = async (body: unknown, headers?: Record<string, string>) =>
    chat.call('POST', '/v1/ai-sdk/chat', body, headers);
  for (const body of [{}, { messages: [{ id: 'u1', role: 'user', content: 'hi' }] }]) {
    const answer = await refused(body);
    t.equal(answer.status, 400);
    t.match(answer.body.error, 'no new messages or interaction responses');
  }
  const old = await refused({ messages: [{ id: 'u1', role: 'user', content: 'hi' }] });
  t.match(old.body.error, /: messages\[0\] has 'content', which is not read; texts are 'parts'/);
  for (const body of [
    { messages: [{ parts: [] }] },
    { messages: null },
    { threadId: 5, messages: [] },
    { threadId: 'a', thread_id: 'a', messages: [] },
  ])
    t.equal((await refused(body)).status, 422, JSON.stringify(body));
  t.equal((await refused('{')).status, 400);
  t.equal((await refused('{}', { 'content-type': 'text/plain' })).status, 415);
  t.equal((await chat.call('GET', '/v1/ai-sdk/chat')).status, 405);
  const forbidden = { threadId: 'a/b', messages: [user('u1', 'hi')] };
  t.equal((await refused(forbidden)).status, 400);
});

t.test('stores only the new messages of a resent conversation', async (t) => {
  const chat = await startChat(t);
  const first = await chat.say('echo', 'T', user('u1', 'one'));
  const answer = {
    id: String(first[0]?.messageId),
    role: 'assistant',
    parts: [{ type: 'text', text: 'echo: one' }],
  };
  const second = await chat.say('echo', 'T', user('u1', 'one'), answer, user('u2', 'two'));
  t.equal(textOf(second), 'echo: two');
  const { messages } = await chat.history('T');
  t.strictSame(
    messages.map(({ role, parts }) => [role, parts.map(({ text }) => text).join()]),
    [
      ['user', 'one'],
      ['assistant', 'echo: one'],
      ['user', 'two'],
      ['assistant', 'echo: two'],
    ],
  );
  t.strictSame([messages[0]?.id, messages[2]?.id], ['u1', 'u2']);
});

t.test('ignores finished calls in the messages of the client', async (t) => {
  const chat = await startChat(t);
  const done = {
    type: 'tool-get_weather',
    toolCallId: 'old',
    state: 'output-available',
    input: {},
    output: 'sunny',
    providerExecuted: true,
  };
  const frames = await chat.say(
    'echo',
    'T',
    { id: 'a0', role: 'assistant', parts: [done] },
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'and now?' }] },
  );
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
  t.equal(
    frames.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : [])).join(''),
    'echo: and now?',
  );
});

t.test('recognizes a message after a restart and while it is queued', async (t) => {
  const chat = await startChat(t);
  await chat.say('echo', 'T', user('u1', 'one'));
  await chat.restart();
  await chat.say('echo', 'T', user('u1', 'one'));
  t.equal((await chat.history('T')).messages.length, 2);
  const scope = 'default';
  const content = [{ type: 'text' as const, text: 'two' }];
  await chat.app.pending.add(scope, 'T', { id: 'u2', role: 'user', content }, { boundary: 'on_natural_end' });
  const staged = { agentId: 'echo', threadId: 'T', messages: [user('u2', 'two')] };
  t.equal((await chat.post('/v1/ai-sdk/chat', staged)).status, 400);
});

t.test('runs one of two identical concurrent requests, and streams it to both', async (t) => {
  const chat = await startChat(t);
  const body = { agentId: 'slow', threadId: 'T', messages: [user('u1', 'one')] };
  const both = await Promise.all([1, 2].map(() => chat.open('/v1/ai-sdk/chat', body)));
  t.strictSame(
    both.map(({ status }) => status),
    [200, 200],
  );
  const heads = await Promise.all(both.map((stream) => stream.until('text-delta')));
  chat.models.release();
  const rests = await Promise.all(both.map((stream) => stream.rest()));
  t.strictSame(heads[0], heads[1]);
  t.strictSame(rests[0], rests[1]);
  t.equal(textOf(framesOf(rests[0] ?? [])), ' answer');
  t.equal(chat.models.requests.length, 1);
  t.equal((await chat.history('T')).messages.filter(({ role }) => role === 'user').length, 1);
});

t.test('sends the state of the user interface to the model only', async (t) => {
  const chat = await startChat(t);
  const send = async (id: string, state: unknown) =>
    (
      await chat.open('/v1/ai-sdk/chat', {
        agentId: 'echo',
        threadId: 'T',
        state,
        messages: [user(id, 'hi')],
      })
    ).rest();
  await send('u1', { todos: ['x'] });
  await send('u2', {});
  await send('u3', { revision: 3, extensions: {} });
  const shown = await chat.history('T');
  t.strictSame(
    shown.messages.map(({ role }) => role),
    Array(3).fill(['user', 'assistant']).flat(),
  );
  const { messages } = await chat.history('T', '?visibility=internal');
  t.match(messages, [
    { role: 'system', parts: [{ text: '<frontend-context>\n{"todos":["x"]}\n</frontend-context>' }] },
  ]);
  t.equal(messages.length, 1);
  const asked = chat.models.requests[0]?.request.messages ?? [];
  t.match(JSON.stringify(asked), /frontend-context.*"hi"/s);
});

t.test('passes attachments to the model and returns them in the history', async (t) => {
  const chat = await startChat(t);
  const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGFsbG8=' };
  await chat.say('echo', 'T', { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'look' }, file] });
  t.match(chat.models.requests[0]?.request.messages.at(-1)?.content, [
    { type: 'text' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGFsbG8=' } },
  ]);
  t.strictSame((await chat.history('T')).messages[0]?.parts, [{ type: 'text', text: 'look' }, file]);
});

t.test('accepts attachments of up to 8 MiB in total', async (t) => {
  const chat = await startChat(t);
  const send = (bytes: number) => {
    const url = `data:text/plain;base64,${Buffer.alloc(bytes, 97).toString('base64')}`;
    const parts = [{ type: 'file', mediaType: 'text/plain', url }];
    return chat.open('/v1/ai-sdk/chat', { agentId: 'echo', messages: [{ id: 'u1', role: 'user', parts }] });
  };
  const most = await send(8_388_608);
  t.equal(most.status, 200);
  await most.rest();
  t.equal((await send(8_388_609)).status, 400);
});

t.test('runs a question again that has no completion', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(() => {
    throw new ModelError('invalid_request', 'the provider is down');
  });
  const failed = await chat.say('steps', 'T', user('u1', 'one'));
  t.match(find(failed, 'error').errorText, /the provider is down/);
  t.match(failed.at(-1), { type: 'finish', finishReason: 'error' });
  const again = { threadId: 'T', trigger: 'regenerate-message', messages: [user('u1', 'one')] };
  const stream = await chat.open('/v1/ai-sdk/chat', again);
  t.equal(stream.status, 200);
  t.equal(textOf(framesOf(await stream.rest())), 'echo: one');
  t.equal((await chat.history('T')).messages.length, 2);
});

t.test('orders the frames of a step with a tool as the client needs', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push((sink) => {
    sink.text('Let me look.');
    sink.toolStart('c1', 'note');
    sink.toolEnd('c1', '{}');
    return { stop: 'ToolUse' };
  });
  const frames = await chat.say('steps', 'T', user('u1', 'hi'));
  t.strictSame(
    typesOf(frames).filter((type) => !type.startsWith('data-')),
    [
      'start',
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'tool-input-start', 'tool-input-available'],
      ...['tool-output-available', 'finish-step'],
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step'],
      'finish',
    ],
  );
  t.match(find(frames, 'tool-output-available'), { providerExecuted: true, output: 'did c1' });
});
