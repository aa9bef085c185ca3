import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { ADMIN_TOKEN, startTroupe } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { countRuns, say, startChat } from './chat.ts';

const KEYS = ['message', 'type', 'param', 'code'];

t.test(
  'every failure below the prefixes has the form of the protocol, and none is a 422 (check 1)',
  async (t) => {
    const { troupe } = await startChat(t);
    const { call } = troupe;
    const json = { 'content-type': 'application/json' };
    const text = { 'content-type': 'text/plain' };
    const path = '/v1/chat/completions';
    const failures: [number, string, string, unknown?, Record<string, string>?][] = [
      [400, 'POST', path, '{'],
      [400, 'POST', path, []],
      [400, 'POST', path, {}],
      [400, 'POST', path, { model: 'echo', messages: [] }],
      [400, 'POST', path, { model: 'echo', messages: 'hi' }],
      [400, 'POST', path, { model: 'echo', messages: [{ role: 'function', content: 'x' }] }],
      [400, 'POST', path, { model: 'echo', messages: [say([{ type: 'text' }])] }],
      [
        400,
        'POST',
        path,
        { model: 'echo', messages: [say([{ type: 'file', file: { file_id: 'file-1' } }])] },
      ],
      [400, 'POST', path, { model: 'echo', messages: [{ role: 'system', content: 'x' }] }],
      [404, 'GET', path],
      [405, 'DELETE', path],
      [404, 'GET', '/v1/chat/other'],
      [404, 'GET', '/v1/models/none'],
      [405, 'POST', '/v1/models', {}],
      [404, 'POST', '/v1/embeddings', {}],
      [404, 'POST', '/v1/audio/speech', {}],
      [415, 'POST', path, 'x', text],
      [413, 'POST', path, `"${'x'.repeat(12_582_912)}"`, json],
      [426, 'GET', '/v1/models', undefined, { upgrade: 'websocket' }],
    ];
    for (const [status, method, at, body, headers] of failures) {
      const answer = await call(method, at, body, headers);
      const title = `${method} ${at} ${JSON.stringify(body)?.slice(0, 60)}`;
      t.equal(answer.status, status, title);
      t.strictSame(Object.keys((answer.body.error ?? {}) as object), KEYS, title);
      t.match(answer.headers.get('openai-processing-ms'), /^\d+$/, title);
    }
    t.equal(await countRuns(troupe), 0);
  },
);

t.test('names the alternative to a route that is not served', async (t) => {
  const { call } = await startTroupe(t);
  const { body } = await call('POST', '/v1/embeddings', {});
  t.match(body.error, { code: 'unsupported_endpoint', message: /point retrieval at a provider/ });
  t.match((await call('GET', '/v1/chat/completions')).body.error, { code: 'unsupported_endpoint' });
});

t.test('serves nothing when it is disabled', async (t) => {
  const { call } = await startTroupe(t, { settings: { openai: { enabled: false } } });
  t.equal((await call('GET', '/v1/models')).status, 404);
});

t.test('reports an unknown model without writing anything (check 2)', async (t) => {
  const { complete, troupe } = await startChat(t, { settings: { openai: { agents: ['ec*'] } } });
  for (const model of ['none', 'slow']) {
    const { status, body } = await complete({ model, messages: [say('hi')] });
    t.equal(status, 404);
    t.match(body.error, { code: 'model_not_found', param: 'model', message: new RegExp(`'${model}'`) });
  }
  t.equal(await countRuns(troupe), 0);
});

t.test('forbids the repetition of an accepted run (check 3)', async (t) => {
  const { complete, troupe } = await startChat(t, { settings: { mailbox: { max_attempts: 1 } } });
  const failures = [
    [new ModelError('invalid_request', 'no'), 500, null],
    [new ModelError('rate_limited', 'slow down', { final: true }), 429, 'rate_limit_exceeded'],
    [new ModelError('context_overflow', 'long'), 400, 'context_length_exceeded'],
  ] as const;
  for (const [failure, expected, code] of failures) {
    troupe.models.failures.push(failure);
    const { status, headers, body, run_id } = await complete({ model: 'flaky', messages: [say('hi')] });
    t.equal(status, expected, failure.class);
    t.match(body.error, { code });
    t.equal(headers.get('x-should-retry'), 'false');
    t.ok(run_id, 'the error names its run');
  }
});

t.test('reports a failure within a stream as an error before the end (check 21)', async (t) => {
  const { stream, troupe } = await startChat(t, { settings: { mailbox: { max_attempts: 1 } } });
  troupe.models.failures.push(new ModelError('invalid_request', 'no'));
  const { raw, chunks, content } = await stream({ model: 'flaky', messages: [say('hi')] });
  t.equal(content, 'half');
  t.match(chunks.at(-1), { error: { type: 'server_error', message: /invalid request: no/, param: null } });
  t.ok(raw.endsWith('data: [DONE]\n\n'));
});

t.test('refuses a missing credential, and unknown keys, in the form of the protocol', async (t) => {
  const { call } = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  const { status, body, headers } = await call('GET', '/v1/models');
  t.equal(status, 401);
  t.match(body.error, { code: 'invalid_api_key', type: 'invalid_request_error' });
  t.equal(headers.get('www-authenticate'), 'Bearer');
  t.equal((await call('GET', '/v1/models', undefined, { authorization: 'Bearer x' })).status, 401);
  t.equal(
    (await call('GET', '/v1/models', undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })).status,
    200,
  );
});

t.test('lists the agents that the caller may invoke, by id (check 7)', async (t) => {
  const { user } = await withUsers(t, { settings: { openai: { agents: ['*o*', 'flaky'] } } });
  const all = await user('alice').get('/v1/models');
  const ids = (body: Record<string, unknown>) => (body.data as { id: string }[]).map(({ id }) => id);
  t.strictSame(ids(all.body), ['echo', 'flaky', 'slow']);
  t.match(all.body, { object: 'list', first_id: 'echo', last_id: 'slow', has_more: false });
  t.match((all.body.data as object[])[0], { object: 'model', owned_by: 'troupe', created: Number });
  const some = user('bob', 'invoke:echo', 'read');
  t.strictSame(ids((await some.get('/v1/models')).body), ['echo']);
  t.equal((await some.get('/v1/models/flaky')).status, 404);
  t.equal((await some.get('/v1/models/echo')).body.id, 'echo');
});

t.test('finds a model whose id has slashes (check 8)', async (t) => {
  const { call } = await startTroupe(t);
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const agent = { id: 'team/helper', model_id: 'echo', system_prompt: 'Help.' };
  t.equal((await call('POST', '/v1/config/agents', agent, admin)).status, 201);
  for (const path of ['/v1/models/team/helper', '/v1/models/team%2Fhelper']) {
    const { status, body } = await call('GET', path);
    t.equal(status, 200, path);
    t.equal(body.id, 'team/helper');
  }
});
