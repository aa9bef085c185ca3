import t from 'tap';
import type { VerifiedToken } from '../../src/identity/issuers/index.ts';
import { NO_GRANTS, parseTokenGrants } from '../../src/schema/grants.ts';
import { adminIn, may } from '../../src/schema/principal.ts';
import { ADMIN, by, IP, openIdentity, START, userWith } from './open.ts';

/** Users: identity.md 1.1, 1.2, 2.2, 3.5, and checks 19, 21, 22, 27, 31 to 33, 59, 93. */

const person = (id: string, grants: string[] = []) => ({ id, kind: 'person' as const, grants });

const token = (fields: Partial<VerifiedToken> = {}): VerifiedToken => ({
  scope: 'acme',
  user: 'alice',
  grants: parseTokenGrants(['member']),
  issuer: 'https://idp.example',
  subject: '00u1',
  iat: START / 1000,
  exp: START / 1000 + 3600,
  ...fields,
});

const IDENTITY = { name: 'Unauthorized', message: 'invalid token: identity' };

t.test('composes ids, and rejects invisible and oversized ones (check 21)', async (t) => {
  const { users } = await openIdentity(t);
  const { id } = await users.create(ADMIN, person('caf\u0065\u0301'));
  t.equal(id, 'caf\u00e9');
  t.equal(users.get(ADMIN.principal, 'cafe\u0301').id, id);
  await t.rejects(users.create(ADMIN, person('caf\u00e9')), { name: 'Conflict' });
  for (const bad of [
    'a\u202eb',
    'a\u200bb',
    'a ',
    ' a',
    '',
    '~admin',
    'a\nb',
    'x'.repeat(257),
    '\ue000',
    '\u0378',
  ]) {
    await t.rejects(users.create(ADMIN, person(bad)), {
      name: 'Invalid',
      message: /^user id must have 1 to 256/,
    });
  }
  await users.create(ADMIN, person('x'.repeat(256)));
  for (const dots of ['.', '..']) {
    await t.rejects(users.create(ADMIN, person(dots)), { name: 'Invalid', message: /path of a URL/ });
  }
});

t.test('composes no id that is too long, which takes quadratic time', async (t) => {
  const { users, keys } = await openIdentity(t);
  const { id } = await users.create(ADMIN, person('\u0390'.repeat(128)));
  t.equal(users.get(ADMIN.principal, '\u03b9\u0308\u0301'.repeat(128)).id, id, 'the longest one is composed');
  // Quadratic steps would take hours.
  const marks = `e\u0301${'\u0300\u0323'.repeat(1e6)}`;
  t.throws(() => users.get(ADMIN.principal, marks), { name: 'NotFound' });
  t.equal(keys.listed(ADMIN.principal, { user: marks }).user, marks);
  await t.rejects(users.create(ADMIN, person(marks)), { name: 'Invalid' });
});

t.test('rejects ids that look like existing ones (check 21)', async (t) => {
  const { users, bind } = await openIdentity(t);
  for (const id of ['alice', 'straße', 'ﬁn']) await users.create(ADMIN, person(id));
  for (const id of ['Alice', 'ALICE', 'ａlice', 'STRASSE', 'fin']) {
    await t.rejects(
      users.create(ADMIN, person(id)),
      { name: 'Conflict', message: /looks like the existing/ },
      id,
    );
    await t.rejects(async () => bind(token({ user: id, subject: id })), IDENTITY, id);
  }
  await users.create(by(adminIn('globex')), person('Alice'));
});

t.test('keeps addresses in lower case, and audits encoded ids (checks 21 and 93)', async (t) => {
  const { users, audited } = await openIdentity(t);
  t.equal((await users.create(ADMIN, { ...person('a/b'), email: 'A@ACME.example' })).email, 'a@acme.example');
  t.equal((await users.update(ADMIN, 'a/b', { email: null })).email, undefined);
  await users.remove(ADMIN, 'a/b', { threads: 'keep' });
  t.strictSame(
    audited.map(({ action, resource, user }) => [action, resource, user]),
    [
      ['create', 'users/acme/a%2Fb', '~admin'],
      ['update', 'users/acme/a%2Fb', '~admin'],
      ['delete', 'users/acme/a%2Fb', '~admin'],
    ],
  );
});

t.test('lets manage change users only within its own grants (check 19)', async (t) => {
  const { users } = await openIdentity(t);
  const op = userWith('op', ['operator']);
  await users.create(ADMIN, person('root', ['admin']));
  await users.create(ADMIN, person('watcher', ['observe', 'member']));
  await users.create(op, person('bob', ['member']));
  const forbidden = { name: 'Forbidden' };
  await t.rejects(users.update(op, 'root', { disabled: true }), forbidden);
  await t.rejects(users.update(op, 'watcher', { grants: [] }), forbidden);
  await t.rejects(users.remove(op, 'root', { threads: 'keep' }), forbidden);
  await t.rejects(users.signOut(op, 'root'), forbidden);
  await t.rejects(users.update(op, 'bob', { grants: ['observe'] }), forbidden);
  await t.rejects(users.update(op, 'bob', { identity: 'pending' }), forbidden);
  await t.rejects(users.create(op, { ...person('x'), of_scope: 'globex' }), forbidden);
  await t.rejects(users.create(userWith('e', ['manage', 'evaluate']), person('x', ['observe'])), forbidden);
  await t.rejects(users.remove(userWith('m', ['manage', 'member']), 'bob', { threads: 'delete' }), forbidden);
  await t.rejects(users.create(userWith('m', ['member']), person('x')), forbidden);
  t.throws(() => users.scopes(op.principal), forbidden);
  t.strictSame((await users.update(op, 'bob', { grants: ['viewer'] })).grants, ['viewer']);
  const bob = userWith('bob', ['viewer']).principal;
  t.equal(users.get(bob, 'bob').id, 'bob');
  t.throws(() => users.get(bob, 'root'), forbidden);
  t.strictSame(users.scopes(ADMIN.principal), ['acme']);
});

t.test('does not give the id of a deleted user away while its threads remain', async (t) => {
  const { users, owners, bind } = await openIdentity(t);
  await users.create(ADMIN, person('alice'));
  owners.add('acme/alice');
  await users.remove(ADMIN, 'alice', { threads: 'keep' });
  await t.rejects(users.create(ADMIN, person('alice')), {
    name: 'Conflict',
    message: /owns threads or files already/,
  });
  await t.rejects(async () => bind(token()), IDENTITY);
  owners.clear();
  await users.create(ADMIN, person('alice'));
  owners.add('acme/alice');
  await users.remove(ADMIN, 'alice', { threads: 'delete' });
  t.notOk(owners.has('acme/alice'));
});

t.test('creates and binds the user of a token (check 27)', async (t) => {
  const { users, bind, store } = await openIdentity(t);
  const first = token({ name: 'Alice', email: 'A@acme.example' });
  const pending = bind(first);
  t.ok(pending instanceof Promise);
  t.match(await pending, { scope: 'acme', user: 'alice', credential: { kind: 'jwt' } });
  t.match(users.get(ADMIN.principal, 'alice'), {
    kind: 'person',
    name: 'Alice',
    email: 'a@acme.example',
    token_grants: ['member'],
    identity: { issuer: 'https://idp.example', subject: '00u1' },
  });
  const { reads } = store;
  t.match(bind(first), { user: 'alice' });
  t.equal(store.reads, reads, 'reads nothing again');
  t.match(bind(token()), { user: 'alice' }, 'without a promise');
});

t.test('binds no token to a user of another origin (check 27)', async (t) => {
  const { users, bind, actFor } = await openIdentity(t);
  await users.create(ADMIN, person('hand'));
  await users.create(ADMIN, { id: 'app', kind: 'service', identity: 'pending' });
  await users.create(ADMIN, { ...person('invited'), identity: 'pending' });
  await actFor(userWith('app', ['act', 'member']).principal, 'end');
  await bind(token());
  for (const user of ['hand', 'app', 'end'])
    await t.rejects(async () => bind(token({ user, subject: user })), IDENTITY);
  await t.rejects(async () => bind(token({ issuer: 'https://other.example' })), IDENTITY);
  await t.rejects(async () => bind(token({ user: 'second' })), IDENTITY, 'one account has one user');
  await t.rejects(async () => bind(token({ user: 'a\u200b' })), IDENTITY);
  await t.rejects(async () => bind(token({ user: '%'.repeat(200), subject: 'long' })), IDENTITY);
  t.match(await bind(token({ user: 'invited', subject: 'i' })), { user: 'invited' });
  t.match(users.get(ADMIN.principal, 'invited').identity, { subject: 'i' });
});

t.test(
  'creates no user for an issuer with known users, and none beyond the maximum (checks 22 and 33)',
  async (t) => {
    const { users, bind, actFor } = await openIdentity(t, { max_users: 2 });
    await t.rejects(async () => bind(token({ provision: 'known' })), IDENTITY);
    t.throws(() => users.get(ADMIN.principal, 'alice'), { name: 'NotFound' });
    await bind(token());
    const app = userWith('app', ['act', 'member']).principal;
    await actFor(app, 'u1');
    const limited = { name: 'RateLimited', code: 'rate_limited', details: { bound: 'users' } };
    await t.rejects(async () => bind(token({ user: 'bob', subject: 'b' })), limited);
    await t.rejects(async () => actFor(app, 'u2'), limited);
    t.match(bind(token()), { user: 'alice' });
    t.match(await actFor(app, 'u1'), { user: 'u1' });
  },
);

t.test('keeps the grants of the newest token for keys (check 32)', async (t) => {
  const opened = await openIdentity(t);
  const { bind, keys, judge } = opened;
  const iat = START / 1000;
  await bind(token());
  const { key } = await keys.create(ADMIN, { name: 'x', user: 'alice' });
  const may_ = (agent: string) => may(judge(key, IP), ['invoke', agent]);
  const with_ = (grant: string, fields: Partial<VerifiedToken>) =>
    bind(token({ grants: parseTokenGrants([grant]), ...fields }));
  await with_('invoke:b', { iat: iat + 20 });
  const older = await with_('invoke:a', { iat: iat + 10 });
  t.ok(may(older, ['invoke', 'a']), 'a token acts with its own grants');
  t.notOk(may(older, ['invoke', 'b']));
  t.ok(may_('b'));
  t.notOk(may_('a'));
  await with_('invoke:a', { iat: iat + 20 });
  t.ok(may_('a') && may_('b'), 'tokens of one second are joined');
  const limited = await with_('member', { iat: iat + 30, narrowing: parseTokenGrants(['invoke:c']) });
  t.notOk(may(limited, ['invoke', 'a']));
  await bind(token({ grants: NO_GRANTS, iat: iat + 40 }));
  t.notOk(may_('a'));
});

t.test('rejects tokens of disabled and signed-out users (check 31)', async (t) => {
  const { users, bind, clock } = await openIdentity(t);
  const first = token();
  await bind(first);
  await users.update(ADMIN, 'alice', { disabled: true });
  t.throws(() => bind(first), { message: 'invalid token: disabled' });
  await users.update(ADMIN, 'alice', { disabled: false });
  t.match(bind(first), { user: 'alice' });
  clock.ms += 5000;
  await users.signOut(ADMIN, 'alice');
  t.throws(() => bind(first), { message: 'invalid token: expired' });
  t.match(await bind(token({ iat: clock.ms / 1000 + 1 })), { user: 'alice' });
});

t.test('stops keys of users for whom no identity provider vouches (check 33)', async (t) => {
  const { bind, keys, judge, clock } = await openIdentity(t, { sso_key_idle_days: 30 });
  await bind(token());
  const { key } = await keys.create(ADMIN, { name: 'x', user: 'alice' });
  t.equal(judge(key, IP).user, 'alice');
  clock.ms += 30 * 86_400_000;
  t.throws(() => judge(key, IP), { name: 'Unauthorized', message: 'sign in again' });
  await bind(token({ iat: clock.ms / 1000 }));
  t.equal(judge(key, IP).user, 'alice');
});

t.test('acts for end users with the rights of both and of a member (check 59)', async (t) => {
  const { users, keys, judge, actFor } = await openIdentity(t);
  await users.create(ADMIN, { id: 'app', kind: 'service', grants: ['member', 'act', 'manage'] });
  const { key } = await keys.create(ADMIN, { name: 'x', user: 'app' });
  const principal = judge(key, IP);
  t.equal(actFor(principal, undefined), principal);
  const u1 = await actFor(principal, 'u%C3%A9');
  t.match(u1, { scope: 'acme', user: 'ué', credential: principal.credential });
  t.ok(may(u1, ['invoke', 'a']));
  t.notOk(may(u1, ['manage']));
  t.notOk(may(u1, ['observe']));
  t.match(users.get(ADMIN.principal, 'ué'), { kind: 'person', grants: ['member'], identity: undefined });
  await users.update(ADMIN, 'ué', { disabled: true });
  t.throws(() => actFor(principal, 'u%C3%A9'), {
    name: 'Unauthorized',
    message: "user 'ué' is disabled",
  });
  t.throws(() => actFor(userWith('bob', ['member']).principal, 'u1'), {
    name: 'Forbidden',
    details: { needs: ['act'] },
  });
  t.throws(() => actFor(principal, '%'), { name: 'Invalid' });
  t.throws(() => actFor(principal, '~admin'), { name: 'Invalid' });
});

t.test('reaches no threads without the header that a key names (check 59)', async (t) => {
  const { keys, judge, actFor, users } = await openIdentity(t);
  await users.create(ADMIN, { id: 'app', kind: 'service', grants: ['admin'] });
  const { key } = await keys.create(ADMIN, { name: 'x', user: 'app', user_header: 'X-OpenWebUI-User-Id' });
  const principal = judge(key, IP);
  const bare = await actFor(principal, undefined);
  for (const need of [
    ['invoke', 'a'],
    ['read', 'own'],
    ['read', 'all'],
    ['write', 'all'],
    ['decide', 'a', 'b'],
  ] as const) {
    t.notOk(may(bare, [...need]), need.join(':'));
  }
  t.ok(may(bare, ['manage']));
  const acting = await actFor(principal, 'u1');
  t.ok(may(acting, ['invoke', 'a']));
  await t.rejects(keys.create(ADMIN, { name: 'x', user: 'app', user_header: 'Authorization' }), {
    name: 'Invalid',
  });
});
