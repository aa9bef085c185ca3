import t from 'tap';
import { createClient } from '../../src/client/index.ts';
import { createTroupe } from '../../src/index.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/** `client.keys` and `client.users`, over HTTP and in process: identity.md 2.1, 2.2, 11. */

t.test('manages keys and users', async (t) => {
  const { url } = await startTroupe(t);
  const admin = createClient({ url, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  await admin.users.create({ id: 'alice', kind: 'person', grants: ['member', 'keys'] });
  const { key, id } = await admin.keys.create({ name: 'first', user: 'alice' });
  const alice = createClient({ url, headers: { authorization: `Bearer ${key}` } });
  t.match(await alice.identity(), { authenticated: true, user: 'alice', credential: { kind: 'key', id } });
  const second = await alice.keys.create({ name: 'second', grants: ['invoke:default'] });
  const names: string[] = [];
  for await (const { name } of alice.keys.list({ limit: 1 })) names.push(name);
  t.strictSame(names, ['second', 'first']);
  t.equal((await alice.keys.update(second.id, { name: 'renamed' })).name, 'renamed');
  t.equal((await alice.keys.get(second.id)).name, 'renamed');
  t.match(await alice.keys.rotate(second.id, { grace_secs: 60 }), { grants: ['invoke:default'] });
  await alice.keys.revoke(second.id);
  t.match((await alice.keys.list({ state: 'revoked' })).items, [{ id: second.id }]);
  t.equal((await alice.users.get('alice')).id, 'alice');
  t.equal((await admin.users.update('alice', { name: 'Alice' })).name, 'Alice');
  t.ok((await admin.users.signOut('alice')).tokens_not_before > 0);
  t.match((await admin.users.list({ q: 'ali' })).items, [{ id: 'alice' }]);
  await admin.users.delete('alice');
  await t.rejects(admin.users.get('alice'), { name: 'NotFound' });
  t.equal((await admin.keys.get(id)).state, 'revoked');
});

t.test('manages keys and users of the embedding program', async (t) => {
  const troupe = await createTroupe({
    listen: false,
    settings: { storage_dir: t.testdir(), log_level: 'silent' },
  });
  t.teardown(() => troupe.stop());
  const created = await troupe.keys.create({
    name: 'app',
    user: 'app',
    new_user: { kind: 'service', grants: ['member'] },
  });
  t.match(created, { user: 'app', created_by: '~admin' });
  t.match((await troupe.users.list()).items, [{ id: 'app', kind: 'service' }]);
  const response = await troupe.fetch(
    new Request('http://localhost/v1/threads', { headers: { authorization: `Bearer ${created.key}` } }),
  );
  t.equal(response.status, 200);
});
