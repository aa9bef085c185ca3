import t from 'tap';
import { withTools } from './suspended.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** runtime.md 0.4 on every route that accepts a body: the right status, `{error}`, and nothing written. */

const bodyRoutes: [method: string, path: string][] = [
  ['POST', '/v1/threads'],
  ['PATCH', '/v1/threads/T'],
  ['PATCH', '/v1/threads/T/metadata'],
  ['POST', '/v1/runs'],
];

t.test('rejects undecodable bodies on every route', async (t) => {
  const { call, url, runToEnd } = await startTroupe(t, {
    settings: { body_limit_bytes: 1000, attachment_body_limit_bytes: 1000 },
  });
  await runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  const state = async () => ({
    threads: (await call('GET', '/v1/threads/summaries')).body,
    runs: (await call('GET', '/v1/runs')).body,
    messages: (await call('GET', '/v1/threads/T/messages')).body,
  });
  const before = await state();
  for (const [method, path] of bodyRoutes) {
    const name = `${method} ${path}`;
    const cases: [string, string | undefined, Record<string, string>, number][] = [
      ['no JSON', '{', {}, 400],
      ['nothing', '', {}, 400],
      ['an array', '[]', {}, 422],
      ['null', 'null', {}, 422],
      ['a wrong type', '{"title":5,"messages":5}', {}, 422],
      ['another content type', '{}', { 'content-type': 'text/plain' }, 415],
      ['too much', `{"title":"${'x'.repeat(2000)}"}`, {}, 413],
    ];
    for (const [what, body, headers, status] of cases) {
      const answer = await call(method, path, body, headers);
      t.equal(answer.status, status, `${name}: ${what}`);
      t.type(answer.body.error, 'string');
      t.notMatch(answer.body.error, /\bat .*:\d+:\d+/, 'the error has no stack trace');
    }
    const untyped = await fetch(url + path, { method, body: new Uint8Array([123, 125]) });
    t.equal(untyped.status, 415, `${name}: no content type`);
  }
  t.strictSame(await state(), before);
});

t.test('rejects bodies that are not UTF-8 or nest too deep on every route', async (t) => {
  const { call, url } = await startTroupe(t);
  const deep = `{"title":"x","messages":${'['.repeat(200)}${']'.repeat(200)}}`;
  const headers = { 'content-type': 'application/json' };
  for (const [method, path] of bodyRoutes) {
    const body = new Uint8Array([...Buffer.from('{"title":"'), 0xff, ...Buffer.from('"}')]);
    const bytes = await fetch(url + path, { method, body, headers });
    t.equal(bytes.status, 400, `${method} ${path}`);
    t.strictSame(await bytes.json(), { error: 'request body is not UTF-8' });
    t.match(await call(method, path, deep), {
      status: 400,
      body: { error: 'request body nests deeper than 128 levels' },
    });
  }
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
});

t.test('ignores the body on routes that take none', async (t) => {
  const { call } = await startTroupe(t);
  const { id } = (await call('POST', '/v1/threads', {})).body;
  const answer = await call('DELETE', `/v1/threads/${id}`, 'not json', { 'content-type': 'text/plain' });
  t.equal(answer.status, 204);
});

t.test('treats impossible thread ids as unknown', async (t) => {
  const { call } = await startTroupe(t);
  for (const id of ['a%2Fb', '..%2f..', '%00', '%ff', 'x'.repeat(3000), '%E0%A4%A']) {
    for (const path of [`/v1/threads/${id}`, `/v1/runs/${id}`, `/v1/threads/${id}/messages`]) {
      t.equal((await call('GET', path)).status, 404, path.slice(0, 40));
    }
    t.strictSame((await call('GET', `/v1/threads/${id}/runs`)).body.items, []);
    t.equal((await call('DELETE', `/v1/threads/${id}`)).status, 404);
    t.equal((await call('PATCH', `/v1/threads/${id}`, {})).status, 404);
  }
});

t.test('rejects a new id that no URL can address, with the reason', async (t) => {
  const { call, post } = await startTroupe(t);
  const messages = [{ role: 'user', content: 'x' }];
  const parts = [{ text: 'x' }];
  const a2a = (ids: object) =>
    post('/v1/a2a/echo/message:send', { message: { messageId: 'm', role: 'ROLE_USER', parts, ...ids } });
  const entry = (namespace: string, id: string) =>
    call(
      'POST',
      `/v1/config/${namespace}`,
      namespace === 'agents' ? { id, model_id: 'echo' } : { id, provider_id: 'test', upstream_model: 'x' },
      { authorization: `Bearer ${ADMIN_TOKEN}` },
    );
  const dataset = (id: string) =>
    call('POST', '/v1/eval/datasets', { id, spec: {} }, { authorization: `Bearer ${ADMIN_TOKEN}` });
  const thread = (threadId: string) => post('/v1/runs', { agentId: 'echo', threadId, messages });
  const chat = (id: string) =>
    post('/v1/ai-sdk/chat', {
      id,
      agentId: 'echo',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
    });
  const agUi = (threadId: string) => post('/v1/ag-ui/run', { threadId, agentId: 'echo', messages });
  const mailbox = (id: string) => post(`/v1/threads/${encodeURIComponent(id)}/mailbox`, { payload: 1 });
  for (const [name, make, ids] of [
    [
      'agents',
      (id) => entry('agents', id),
      ['.', '..', ' a', 'a ', 'validate', 'meta', '$schema', 'runtime-stats', 'a\u0007'],
    ],
    ['models', (id) => entry('models', id), ['.', '..', '\u00a0a', 'validate', 'meta', '$schema', '\ud800']],
    ['datasets', dataset, ['.', '..', ' a', 'a/b', 'a\u0007']],
    ['threads', thread, ['.', '..', 'a/b', 'summaries', 'a\u0007b', '\ud800', 'x'.repeat(513)]],
    ['chats', chat, ['.', '..', 'summaries', 'a\\b']],
    ['AG-UI threads', agUi, ['.', '..', 'summaries', 'a\\b']],
    ['mailboxes', mailbox, ['a/b', 'summaries', 'a\u0007b']],
    ['contexts', (contextId) => a2a({ contextId }), ['.', '..', 'summaries', 'a/b']],
    ['tasks', (taskId) => a2a({ taskId }), ['.', '..', 'summary', 'a/b']],
  ] satisfies [string, (id: string) => Promise<{ status: number; body: object }>, string[]][]) {
    for (const id of ids) {
      const { status, body } = await make(id);
      t.equal(status, 400, `${name}: ${JSON.stringify(id)}`);
      t.match(JSON.stringify(body), /must not|must have at most/, `${name}: ${JSON.stringify(id)}`);
    }
  }
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
  t.equal((await entry('agents', 'team/helper')).status, 201);
});

t.test('answers identical concurrent requests with runs or conflicts, never with errors', async (t) => {
  const { call, run } = await startTroupe(t);
  const body = { agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'x' }] };
  const streams = await Promise.all(Array.from({ length: 20 }, () => run(body)));
  for (const { status } of streams) t.ok(status === 200 || status === 409, String(status));
  await Promise.all(streams.map((stream) => stream.rest()));
  t.equal((await call('GET', '/v1/runs?status=running')).body.total, 0);
});

t.test('rejects integers that would lose precision, in bodies and in tool arguments', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { call, models, runToEnd } = troupe;
  const error = /the integer 1234567890123456789 cannot be kept exactly/;
  const big = '{"id":1234567890123456789}';
  const { id } = (await call('POST', '/v1/threads', {})).body;
  t.match(await call('PATCH', `/v1/threads/${id}`, `{"custom":${big}}`), { status: 400, body: { error } });
  const message = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${big}}]}}`;
  const sent = await call('POST', '/v1/a2a/echo/message:send', message);
  t.equal(sent.status, 400);
  t.match(JSON.stringify(sent.body), error);
  models.steps.push((sink) => {
    sink.toolStart('c1', 'note');
    sink.toolEnd('c1', big);
    return { stop: 'ToolUse' };
  });
  const messages = [{ role: 'user', content: 'Hello' }];
  const events = await runToEnd({ agentId: 'steps', threadId: 'T', messages });
  t.strictSame(tools.executed, []);
  const done = events.find(({ event_type }) => event_type === 'tool_call_done');
  t.match(done, { outcome: 'failed', result: { message: error } });
});
