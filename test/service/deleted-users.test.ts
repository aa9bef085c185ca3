import t from 'tap';
import { upload } from './files/client.ts';
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
  t.match([refused.status, refused.body], [409, { error: "user id 'alice' owns threads or files already" }]);
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

t.test('keeps the files of a deleted user with its threads, and deletes both on request', async (t) => {
  const troupe = await startTroupe(t, {
    settings: { identity: { anonymous: 'never' }, files: { grace_secs: 0 } },
  });
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const create = async (): Promise<Record<string, string>> => {
    const new_user = { kind: 'person', grants: ['member'] };
    const { body } = await troupe.call(
      'POST',
      '/v1/keys',
      { name: 'laptop', user: 'alice', new_user },
      admin,
    );
    return body.key === undefined ? {} : { authorization: `Bearer ${body.key}` };
  };
  const headers = await create();
  for (const text of ['one', 'two']) t.equal((await upload(troupe.url, text, { headers })).status, 200);
  const bob = await upload(troupe.url, 'of another user', { headers: admin });
  t.equal((await troupe.call('DELETE', '/v1/users/alice', undefined, admin)).status, 204);
  const listed = await troupe.call('GET', '/v1/files', undefined, admin);
  t.match(listed.body, { data: [{ filename: 'a.txt' }, {}, {}] }, 'the files remain');
  t.match(await create(), {}, 'a later user does not inherit them');
  t.match(
    await troupe.call('POST', '/v1/users', { id: 'alice', kind: 'person', grants: ['member'] }, admin),
    { status: 409, body: { error: "user id 'alice' owns threads or files already" } },
  );
  for (const { id } of listed.body.data as { id: string }[])
    if (id !== bob.body.id) await troupe.call('DELETE', `/v1/files/${id}`, undefined, admin);

  const again = await create();
  t.equal((await upload(troupe.url, 'three', { headers: again })).status, 200);
  t.equal((await troupe.call('DELETE', '/v1/users/alice?threads=delete', undefined, admin)).status, 204);
  t.match((await troupe.call('GET', '/v1/files', undefined, admin)).body, { data: [{ id: bob.body.id }] });
  t.match(Object.keys(await create()), ['authorization']);
});
