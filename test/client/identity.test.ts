import t from 'tap';
import { createClient } from '../../src/client/index.ts';
import { createTroupe } from '../../src/index.ts';
import { openBrowser } from '../service/browser.ts';
import { ask } from '../service/http.ts';
import { readBlocks } from '../service/stream.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/**
 * `client.keys`, `client.users`, `client.sessions` and `client.tickets`, over HTTP and in process: identity.md 2.1, 2.2,
 * 2.5, 2.7.
 */

t.test('manages keys and users', async (t) => {
  const { url } = await startTroupe(t);
  const admin = createClient({ url, token: ADMIN_TOKEN });
  await admin.users.create({ id: 'alice', kind: 'person', grants: ['member', 'keys'] });
  const { key, id } = await admin.keys.create({ name: 'first', user: 'alice' });
  const alice = createClient({ url, token: key });
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

t.test('lists and ends sessions, and signs out', async (t) => {
  const troupe = await startTroupe(t);
  const clientOf = (token: string) => createClient({ url: troupe.url, token });
  const admin = clientOf(ADMIN_TOKEN);
  await admin.users.create({ id: 'alice', kind: 'person', grants: ['member'] });
  const { key } = await admin.keys.create({ name: 'alice', user: 'alice' });
  const signIn = async (): Promise<string> => {
    const browser = openBrowser(troupe);
    await browser.call('POST', '/v1/session', undefined, { authorization: `Bearer ${key}` });
    return browser.cookies.get('__Host-troupe_session') ?? '';
  };
  const [token, other] = [await signIn(), await signIn()];
  const alice = clientOf(token);
  const { items } = await alice.sessions.list();
  t.match(
    items.map(({ user, source, current, user_agent }) => ({ user, source, current, user_agent })),
    [
      { user: 'alice', source: 'key', current: false, user_agent: 'Test browser' },
      { user: 'alice', source: 'key', current: true },
    ],
  );
  await alice.sessions.end(items[0]?.id ?? '');
  await t.rejects(clientOf(other).identity(), { name: 'Unauthorized', message: /session has ended|invalid/ });
  await t.rejects(alice.sessions.end('../users/alice'), { name: 'NotFound' });
  t.match((await admin.sessions.list({ user: 'alice', of_scope: 'default' })).items, [{ current: false }]);
  await t.rejects(alice.sessions.list({ user: 'bob' }), { name: 'Unauthorized', status: 403 });
  await t.rejects(clientOf(key).sessions.signOut(), { name: 'InvalidRequest', message: /no session/ });
  await alice.sessions.signOut();
  await t.rejects(alice.sessions.list(), { name: 'Unauthorized', status: 401 });
  t.strictSame((await admin.sessions.list({ user: 'alice' })).items, []);
});

t.test('creates tickets of event streams', async (t) => {
  const { url } = await startTroupe(t);
  const admin = createClient({ url, token: ADMIN_TOKEN });
  const { id } = await admin.threads.create();
  const path = `/v1/threads/${id}/events/stream`;
  const { ticket, expires_at } = await admin.tickets.create(path);
  t.ok(expires_at > Date.now());
  const open = () => ask(`${url}${path}?ticket=${ticket}`, { headers: { accept: 'text/event-stream' } });
  const stream = readBlocks(await open());
  t.equal(stream.status, 200);
  t.match(await stream.next(), /^: from/);
  await stream.close();
  t.equal((await open()).status, 401);
  await t.rejects(admin.tickets.create('/v1/threads'), { name: 'InvalidRequest' });
  const anonymous = createClient({ url });
  await t.rejects(anonymous.tickets.create('/v1/system/actors/stream'), { name: 'Unauthorized' });
});
