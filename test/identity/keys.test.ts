import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import t from 'tap';
import { checksumOf } from '../../src/identity/credentials/key-format.ts';
import { may } from '../../src/schema/principal.ts';
import { ADMIN, IP, openIdentity, START, userWith } from './open.ts';

/** API keys: identity.md 2.1, and checks 11 to 19. */

const DAY = 86_400_000;

const member = async (
  opened: Awaited<ReturnType<typeof openIdentity>>,
  id: string,
  grants = ['member', 'keys'],
) => {
  await opened.users.create(ADMIN, { id, kind: 'person', grants });
  return userWith(id, grants);
};

t.test('creates a key of the documented form, which appears in no row (check 11)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const { key, ...shown } = await opened.keys.create(alice, { name: 'ci' });
  t.match(key, /^tpk_[0-9A-Za-z]{49}$/);
  t.equal(checksumOf(key.slice(0, 47)), key.slice(47));
  t.equal(checksumOf(''), '000000');
  const digits = [...checksumOf('x')].map((digit) =>
    '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit),
  );
  t.equal(
    digits.reduce((sum, digit) => sum * 62 + digit, 0),
    crc32('x'),
  );
  t.strictSame(shown, {
    id: shown.id,
    hint: `${key.slice(0, 8)}…${key.slice(-4)}`,
    name: 'ci',
    scope: 'acme',
    user: 'alice',
    state: 'active',
    created_at: START,
    created_by: 'alice',
    expires_at: START + 90 * DAY,
    last_used_at: null,
    last_used_ip: null,
    actor: shown.actor,
  });
  t.match(shown.actor, /^[0-9a-f]{16}$/);
  t.strictSame(opened.keys.get(alice.principal, shown.id), shown);
  const random = key.slice(12, 47);
  t.notMatch(JSON.stringify(opened.audited), random);
  const folder = t.testdirName;
  await opened.store.backup(join(folder, 'copy'));
  t.notOk(readFileSync(join(folder, 'copy', 'data.mdb')).includes(random));
});

t.test('rejects damaged, unknown and truncated keys with one text (check 12)', async (t) => {
  const opened = await openIdentity(t);
  const { key } = await opened.keys.create(await member(opened, 'alice'), { name: 'ci' });
  const other = key.endsWith('0') ? '1' : '0';
  for (const bad of [
    key.slice(0, -1) + other,
    `tpk_${'a'.repeat(49)}`,
    key.slice(0, 20),
    'tpk_',
    `${key} `,
  ]) {
    t.throws(() => opened.judge(bad, IP), { name: 'Unauthorized', message: 'invalid credential' });
  }
});

t.test('rejects a revoked and an expired key by name (checks 13 and 14)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const revoked = await opened.keys.create(alice, { name: 'ci' });
  const short = await opened.keys.create(alice, { name: 'short', expires_in_secs: 60 });
  t.equal(opened.judge(revoked.key, IP).user, 'alice');
  t.equal(opened.judge(short.key, IP).credential.id, short.id);
  await opened.keys.revoke(alice, revoked.id);
  t.throws(() => opened.judge(revoked.key, IP), { message: "API key 'ci' has been revoked" });
  t.equal(opened.keys.get(alice.principal, revoked.id).state, 'revoked');
  await opened.keys.revoke(alice, revoked.id);
  opened.clock.ms += 60_000;
  t.throws(() => opened.judge(short.key, IP), { message: "API key 'short' has expired" });
  t.equal(opened.keys.get(alice.principal, short.id).state, 'expired');
  await t.rejects(opened.keys.update(alice, short.id, { name: 'x' }), { name: 'Conflict' });
});

t.test('limits the life of new keys (check 14)', async (t) => {
  const opened = await openIdentity(t, { key_max_days: 30 });
  const alice = await member(opened, 'alice');
  for (const expires_in_secs of [null, 40 * 86_400]) {
    await t.rejects(opened.keys.create(alice, { name: 'ci', expires_in_secs }), {
      name: 'Invalid',
      message: /^expires_in_secs must be at most 2592000/,
    });
  }
  t.equal((await opened.keys.create(alice, { name: 'ci' })).expires_at, START + 30 * DAY);
});

t.test('rotates a key, and keeps its predecessor for the grace period (check 15)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const first = await opened.keys.create(alice, { name: 'ci', grants: ['invoke:a'], expires_in_secs: 3600 });
  opened.clock.ms += 1000;
  const second = await opened.keys.rotate(alice, first.id, 60);
  t.match(second, { name: 'ci', user: 'alice', grants: ['invoke:a'], expires_at: START + 3_601_000 });
  t.equal(opened.store.keys.get(second.id)?.line, first.id);
  t.equal(opened.judge(first.key, IP).user, 'alice');
  t.equal(opened.judge(second.key, IP).user, 'alice');
  opened.clock.ms += 60_000;
  t.throws(() => opened.judge(first.key, IP), { message: /has expired/ });
  t.equal(opened.judge(second.key, IP).user, 'alice');
  await opened.keys.rotate(alice, second.id, 0);
  t.throws(() => opened.judge(second.key, IP), { message: /has been revoked/ });
});

t.test('writes the last use at most once a minute (check 16)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const { key, id } = await opened.keys.create(alice, { name: 'ci', expires_in_secs: null });
  const commits: Promise<void>[] = [];
  const { commit } = opened.store;
  opened.store.commit = (...args) => {
    const done = commit(...args);
    commits.push(done);
    return done;
  };
  const reads = () => opened.store.reads;
  opened.judge(key, IP);
  const before = reads();
  for (let count = 0; count < 10_000; count += 1) {
    opened.clock.ms += 12;
    opened.judge(key, IP);
  }
  t.equal(reads(), before, 'reads nothing from the store');
  t.equal(commits.length, 3);
  await Promise.all(commits);
  const { last_used_at, last_used_ip } = opened.keys.get(alice.principal, id);
  t.ok(opened.clock.ms - Number(last_used_at) <= 60_000);
  t.equal(last_used_ip, '192.0.2.1');
  t.equal(opened.users.get(alice.principal, 'alice').last_seen_at, last_used_at);
});

t.test('narrows a key by its grants, and follows the grants of its user (check 17)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const narrow = await opened.keys.create(alice, { name: 'n', grants: ['invoke:support'] });
  const wide = await opened.keys.create(alice, { name: 'w' });
  const rights = (key: string, need: Parameters<typeof may>[1]) => may(opened.judge(key, IP), need);
  t.ok(rights(narrow.key, ['invoke', 'support']));
  t.notOk(rights(narrow.key, ['invoke', 'billing']));
  t.notOk(rights(narrow.key, ['decide', 'support', 'x']));
  t.ok(rights(wide.key, ['decide', 'support', 'x']));
  await opened.users.update(ADMIN, 'alice', { grants: ['read:own'] });
  t.notOk(rights(narrow.key, ['invoke', 'support']));
  t.notOk(rights(wide.key, ['invoke', 'support']));
  t.ok(rights(wide.key, ['read', 'own']));
  await opened.users.update(ADMIN, 'alice', { disabled: true });
  t.throws(() => opened.judge(wide.key, IP), { message: "user 'alice' is disabled" });
});

t.test('creates keys only within the rights of the caller (check 18)', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  await member(opened, 'bob');
  const bare = userWith('alice', ['member']);
  const forbidden = (needs: string[]) => ({ name: 'Forbidden', details: { needs } });
  await t.rejects(opened.keys.create(bare, { name: 'x' }), forbidden(['keys']));
  await t.rejects(opened.keys.create(alice, { name: 'x', user: 'bob' }), forbidden(['manage']));
  await t.rejects(opened.keys.create(alice, { name: 'x', user: 'nobody' }), forbidden(['manage']));
  await t.rejects(opened.keys.create(alice, { name: 'x', grants: ['operate'] }), forbidden(['operate']));
  await t.rejects(
    opened.keys.create(userWith('alice', ['invoke:a*', 'keys']), { name: 'x', grants: ['invoke:*'] }),
    forbidden(['invoke:*']),
  );
  await t.rejects(opened.keys.create(alice, { name: 'x', grants: ['nonsense'] }), { name: 'Invalid' });
  const key = await opened.keys.create(alice, { name: 'x', grants: ['invoke:a'] });
  await t.rejects(opened.keys.update(alice, key.id, { grants: ['invoke:a', 'decide'] }), { name: 'Invalid' });
  await t.rejects(opened.keys.update(alice, key.id, { expires_in_secs: 91 * 86_400 }), { name: 'Invalid' });
  t.match(await opened.keys.update(alice, key.id, { expires_in_secs: 60, name: 'y' }), {
    name: 'y',
    expires_at: START + 60_000,
  });
});

t.test('passes the limits of a key on to the keys that are created with it', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice', ['operator']);
  const narrow = await opened.keys.create(alice, { name: 'n', grants: ['keys', 'invoke:support'] });
  const wide = await opened.keys.create(alice, { name: 'w' });
  const principal = opened.judge(narrow.key, IP);
  const child = await opened.keys.create({ ...alice, principal }, { name: 'c' });
  t.strictSame(child.grants, ['keys', 'invoke:support']);
  t.notOk(may(opened.judge(child.key, IP), ['manage']));
  await t.rejects(opened.keys.rotate({ ...alice, principal }, wide.id, 0), { name: 'Forbidden' });
  t.equal((await opened.keys.rotate({ ...alice, principal }, child.id, 0)).user, 'alice');
});

t.test('lets manage create keys of services and first keys, but not impersonate (check 19)', async (t) => {
  const opened = await openIdentity(t);
  const { keys, users } = opened;
  const OPERATOR = ['operator'];
  const op = userWith('op', OPERATOR);
  await member(opened, 'bob');
  await users.create(ADMIN, { id: 'op', kind: 'person', grants: OPERATOR });
  await users.create(ADMIN, { id: 'root', kind: 'person', grants: ['admin'] });
  await users.create(ADMIN, { id: 'app', kind: 'service', grants: ['member'] });
  const bobs = await keys.create(ADMIN, { name: 'x', user: 'bob' });
  const roots = await keys.create(ADMIN, { name: 'x', user: 'root' });
  const forbidden = { name: 'Forbidden' };
  await t.rejects(keys.create(op, { name: 'x', user: 'app', of_scope: 'globex' }), forbidden);
  await t.rejects(keys.create(op, { name: 'x', user: 'root' }), forbidden);
  await t.rejects(keys.revoke(op, roots.id), forbidden);
  await t.rejects(keys.create(op, { name: 'x', user: 'bob' }), forbidden);
  await t.rejects(keys.rotate(op, bobs.id, 0), forbidden);
  const apps = await keys.create(op, { name: 'x', user: 'app' });
  t.strictSame(apps.grants, ['operator'], 'narrowed to what the caller has');
  t.equal((await keys.rotate(op, apps.id, 0)).user, 'app');
  const first = await keys.create(op, {
    name: 'x',
    user: 'carl',
    new_user: { kind: 'person', grants: ['member'], name: 'Carl' },
  });
  t.equal(first.user, 'carl');
  t.ok(opened.store.keys.get(first.id)?.first);
  await t.rejects(keys.create(op, { name: 'x', user: 'carl' }), forbidden);
  await t.rejects(
    keys.create(op, { name: 'x', user: 'dora', new_user: { kind: 'person', grants: ['observe'] } }),
    forbidden,
  );
  await t.rejects(keys.create(op, { name: 'x', user: 'dora' }), { message: 'user not found: dora' });
  await keys.revoke(op, bobs.id);
});

t.test('creates short keys of persons with act (check 19)', async (t) => {
  const opened = await openIdentity(t);
  await member(opened, 'bob', ['operator']);
  await opened.users.create(ADMIN, { id: 'app', kind: 'service', grants: ['member', 'act'] });
  const app = userWith('app', ['member', 'act', 'operate']);
  const short = await opened.keys.create(app, { name: 'x', user: 'bob', expires_in_secs: 900 });
  const principal = opened.judge(short.key, IP);
  t.ok(may(principal, ['invoke', 'a']));
  t.notOk(may(principal, ['operate']), 'no more than a member');
  await t.rejects(opened.keys.create(app, { name: 'x', user: 'bob', expires_in_secs: 172_800 }), {
    name: 'Forbidden',
  });
  t.equal((await opened.keys.create(app, { name: 'x', user: 'bob' })).expires_at, START + DAY);
});

t.test('limits keys that act creates also for callers with manage', async (t) => {
  const opened = await openIdentity(t);
  const bob = await member(opened, 'bob', ['member', 'keys']);
  const both = userWith('op', ['operator', 'act']);
  const own = await opened.keys.create(bob, { name: 'x', expires_in_secs: 3600 });
  const made = [
    await opened.keys.create(both, { name: 'x', user: 'bob' }),
    await opened.keys.create(both, { name: 'x', user: 'bob', grants: ['keys', 'member'] }),
    await opened.keys.rotate(both, own.id, 0),
  ];
  for (const { key } of made) {
    const principal = opened.judge(key, IP);
    t.ok(may(principal, ['invoke', 'a']));
    t.notOk(may(principal, ['keys']), 'no creation of a key that lasts longer');
  }
});

t.test('does not show keys of other users', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const bob = await member(opened, 'bob');
  const { id } = await opened.keys.create(alice, { name: 'x' });
  const unknown = { name: 'NotFound', message: `key not found: ${id}` };
  t.throws(() => opened.keys.get(bob.principal, id), unknown);
  await t.rejects(opened.keys.revoke(bob, id), unknown);
  t.throws(() => opened.keys.get(userWith('op', ['operator'], 'globex').principal, id), unknown);
  t.strictSame(opened.keys.listed(bob.principal, {}), { scope: 'acme', user: 'bob' });
  t.throws(() => opened.keys.listed(bob.principal, { user: 'alice' }), { name: 'Forbidden' });
});

t.test('limits the active keys of a user to 100', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  for (let count = 0; count < 100; count += 1) await opened.keys.create(alice, { name: `k${count}` });
  await t.rejects(opened.keys.create(alice, { name: 'x' }), {
    name: 'RateLimited',
    details: { bound: 'keys' },
  });
});

t.test('removes keys 90 days after their end', async (t) => {
  const opened = await openIdentity(t);
  const alice = await member(opened, 'alice');
  const old = await opened.keys.create(alice, { name: 'old', expires_in_secs: 60 });
  opened.clock.ms += 90 * DAY;
  await opened.keys.create(alice, { name: 'a' });
  t.equal(opened.keys.get(alice.principal, old.id).state, 'expired');
  opened.clock.ms += 61_000;
  await opened.keys.create(alice, { name: 'b' });
  t.throws(() => opened.keys.get(alice.principal, old.id), { name: 'NotFound' });
  t.throws(() => opened.judge(old.key, IP), { message: 'invalid credential' });
});
