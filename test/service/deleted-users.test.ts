import t from 'tap';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** The threads of a deleted user (identity.md 2.2). */

const HELLO = { agentId: 'echo', threadId: 't1', messages: [{ role: 'user', content: 'Hello' }] };

t.test('the id of a deleted user is free once its threads are deleted', async (t) => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const create = () =>
    troupe.call('POST', '/v1/users', { id: 'alice', kind: 'person', grants: ['member'] }, admin);
  const keyOf = async (): Promise<Record<string, string>> => {
    const { body } = await troupe.call('POST', '/v1/keys', { name: 'laptop', user: 'alice' }, admin);
    return { authorization: `Bearer ${body.key}` };
  };
  t.equal((await create()).status, 201);
  const alice = await keyOf();
  t.equal((await troupe.call('POST', '/v1/runs', HELLO, alice)).status, 200);
  t.match((await troupe.call('GET', '/v1/threads/t1', undefined, alice)).body, { id: 't1', owner: 'alice' });

  t.equal((await troupe.call('DELETE', '/v1/users/alice', undefined, admin)).status, 204);
  t.equal((await troupe.call('GET', '/v1/threads/t1', undefined, alice)).status, 401);
  const refused = await create();
  t.match([refused.status, refused.body], [409, { error: "user id 'alice' owns threads already" }]);
  t.match(
    (await troupe.call('GET', '/v1/threads', undefined, admin)).body,
    { total: 1 },
    'the thread remains',
  );

  for (const { id } of (await troupe.call('GET', '/v1/threads/summaries', undefined, admin)).body.items as {
    id: string;
  }[]) {
    t.equal((await troupe.call('DELETE', `/v1/threads/${id}`, undefined, admin)).status, 204);
  }
  t.equal((await create()).status, 201);
});

t.test('deleting a user with its threads stops its runs and removes all of them', async (t) => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const made = await troupe.call(
    'POST',
    '/v1/keys',
    { name: 'laptop', user: 'alice', new_user: { kind: 'person', grants: ['member'] } },
    admin,
  );
  const alice = { authorization: `Bearer ${made.body.key}` };
  const { body: thread } = await troupe.call('POST', '/v1/threads', {}, alice);
  const input = { agent_id: 'slow', messages: HELLO.messages };
  const accepted = await troupe.call('POST', `/v1/threads/${thread.id}/messages`, input, alice);
  t.equal(accepted.status, 202);
  for (const visibility of ['read', 'private']) {
    const { body } = await troupe.call('POST', '/v1/threads', {}, alice);
    await troupe.call('PATCH', `/v1/threads/${body.id}`, { visibility }, alice);
  }
  t.match((await troupe.call('GET', '/v1/threads', undefined, alice)).body, { total: 3 });
  t.equal((await troupe.call('DELETE', '/v1/users/alice?threads=delete', undefined, admin)).status, 204);
  t.match((await troupe.call('GET', '/v1/threads', undefined, admin)).body, { total: 0 });
  // The record of a run outlives its thread.
  const { body } = await troupe.call('GET', '/v1/runs', undefined, admin);
  t.match(body, { total: 1, items: [{ status: 'done', owner: 'alice', user: 'alice' }] });
  const again = { id: 'alice', kind: 'person', grants: ['member'] };
  t.equal((await troupe.call('POST', '/v1/users', again, admin)).status, 201);
});
