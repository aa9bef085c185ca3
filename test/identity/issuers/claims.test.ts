import type { JWTPayload } from 'jose';
import t, { type Test } from 'tap';
import { allows } from '../../../src/schema/grants.ts';
import type { IssuerInput } from '../../../src/schema/issuer.ts';
import { AUDIENCE, outcomeOf, startProvider, verifying } from './provider.ts';

/** Users, scopes and grants of tokens: identity.md 1.1, 2.3, checks 21, 26, 27, 30, 32 and 33, as far as they need no store. */

const start = async (t: Test, fields: Partial<IssuerInput> = {}) => {
  const { issuer, sign } = await startProvider(t);
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE], ...fields }]);
  return {
    verify: async (claims: JWTPayload = {}) => issuers.verify(await sign(claims)),
    refused: async (claims: JWTPayload) => outcomeOf(issuers, await sign(claims)),
    grants: async (claims: JWTPayload) => (await issuers.verify(await sign(claims))).grants.texts,
  };
};

t.test('reads the user, its name and its address', async (t) => {
  const claims = { user: 'profile.id', name: 'name', email: 'email' };
  const { verify, refused } = await start(t, { claims });
  const profile = { id: 'alice' };
  t.match(await verify({ profile, name: 'Alice', email: 'A@ACME.example' }), {
    user: 'alice',
    subject: '00u1',
    name: 'Alice',
    email: 'a@acme.example',
    scope: 'default',
    provision: 'auto',
  });
  t.match(await verify({ profile, name: 'Ali\u202ece', email: 7 }), { name: undefined, email: undefined });
  t.equal(await refused({ profile: {} }), 'claims');
  t.equal(await refused({ profile: 'alice' }), 'claims');
  t.equal(await refused({ profile: { id: 7 } }), 'claims');
});

t.test('composes ids, and rejects those that can be mistaken for others', async (t) => {
  const { verify, refused } = await start(t);
  t.match(await verify({ sub: 'rene\u0301' }), { user: 'ren\u00e9', subject: 'rene\u0301' });
  const ids = [
    'a\u202eb',
    'a\u200bb',
    'a ',
    ' a',
    '~admin',
    'x'.repeat(257),
    'a\nb',
    'a\ue000',
    '\u3164',
    '',
  ];
  for (const id of ids) t.equal(await refused({ sub: id }), 'claims', JSON.stringify(id));
  t.equal(await refused({ sub: 'é'.repeat(128) }), 'accepted');
});

t.test('accepts an address as an id only if it is verified', async (t) => {
  for (const claims of [{ user: 'email' }, { user: 'mail', email: 'mail' }]) {
    const { verify, refused } = await start(t, { claims });
    const address = { email: 'A@ACME.example', mail: 'A@ACME.example' };
    t.match(await verify({ ...address, email_verified: true }), { user: 'a@acme.example' });
    t.equal(await refused(address), 'claims');
    t.equal(await refused({ ...address, email_verified: false }), 'claims');
    t.equal(await refused({ ...address, email_verified: 'true' }), 'claims');
  }
});

t.test('takes the scope from a claim only if the patterns allow it', async (t) => {
  const { verify, refused } = await start(t, { claims: { scope: 'tid' }, scopes: ['acme-*', 'globex'] });
  t.match(await verify({ tid: 'acme-eu' }), { scope: 'acme-eu' });
  t.match(await verify({ tid: 'globex' }), { scope: 'globex' });
  for (const tid of [undefined, 'default', 'globex2', '', 7, ['globex'], 'acme-\u200b', 'acme-~ '])
    t.equal(await refused({ tid }), 'scope', JSON.stringify(tid));
});

t.test('maps roles to grants, one text or a list', async (t) => {
  const map = { admins: ['operator'], support: ['member', 'decide:support/*'] };
  const { grants, refused } = await start(t, { claims: { roles: ['realm', 'roles'] }, map });
  t.strictSame(await grants({ realm: { roles: ['support', 'unknown', 7] } }), ['member', 'decide:support/*']);
  t.strictSame(await grants({ realm: { roles: 'admins' } }), ['operator']);
  t.strictSame(await grants({ realm: { roles: ['support', 'admins'] } }), [
    'member',
    'decide:support/*',
    'operator',
  ]);
  t.strictSame(await grants({ realm: { roles: ['unknown', '__proto__', 'constructor'] } }), []);
  t.strictSame(await grants({}), []);
  t.equal(await refused({ realm: { roles: { admins: true } } }), 'claims');
});

t.test('a map of one scope gives nothing in another', async (t) => {
  const { grants } = await start(t, {
    claims: { scope: 'tid', roles: 'groups' },
    scopes: ['*'],
    map: { acme: { admins: ['operator'] }, '*': { users: ['viewer'] } },
  });
  const groups = ['admins', 'users'];
  t.strictSame(await grants({ tid: 'acme', groups }), ['operator', 'viewer']);
  t.strictSame(await grants({ tid: 'globex', groups }), ['viewer']);
});

t.test('gives the default grants if the roles give none', async (t) => {
  const { grants } = await start(t, {
    claims: { roles: 'groups' },
    map: { approvers: ['approver'], root: ['admin'] },
    default_grants: ['member'],
  });
  t.strictSame(await grants({ groups: ['approvers'] }), ['approver']);
  t.strictSame(await grants({ groups: ['others'] }), ['member']);
  t.strictSame(await grants({ groups: ['root'] }), ['member'], 'service grants do not count');
  t.strictSame(await grants({}), ['member']);
});

t.test('gives service grants only with service_grants', async (t) => {
  const fields = {
    claims: { roles: 'groups' },
    map: { root: ['admin', 'member', 'configure:mcp-servers'] },
    scope_grants: true,
  };
  const without = await start(t, fields);
  const plain = await without.verify({ groups: ['root'], scope: 'configure:agents keys' });
  t.notOk(allows(plain.grants, 'configure', 'agents'));
  t.notOk(allows(plain.grants, 'configure', 'mcp-servers'));
  t.ok(allows(plain.grants, 'invoke', 'support'));
  t.ok(allows(plain.grants, 'keys'));
  const trusted = await start(t, { ...fields, service_grants: true });
  t.ok(allows((await trusted.verify({ groups: ['root'] })).grants, 'configure', 'mcp-servers'));
});

t.test('limits a token to the grants that its OAuth scope names', async (t) => {
  const { verify } = await start(t, { claims: { roles: 'groups' }, map: { root: ['operator'] } });
  const limitOf = async (claims: JWTPayload) =>
    (await verify({ groups: ['root'], ...claims })).narrowing?.texts;
  t.strictSame(await limitOf({ scope: 'openid invoke:support' }), ['invoke:support']);
  t.strictSame(await limitOf({ scp: ['invoke:support', 'profile'] }), ['invoke:support']);
  t.strictSame(await limitOf({ scp: 'read:own' }), ['read:own']);
  t.strictSame(await limitOf({ scope: 'openid profile read:users' }), undefined);
  t.strictSame(await limitOf({}), undefined);
  t.strictSame(
    await limitOf({ scope: 'openid invoke:%zz' }),
    [],
    'a broken pattern does not remove the limit',
  );
  t.strictSame((await verify({ groups: ['root'], scope: 'invoke:a' })).grants.texts, ['operator']);
});

t.test('counts the OAuth scope as authority only with scope_grants', async (t) => {
  const without = await start(t);
  t.strictSame(await without.grants({ scope: 'invoke:support' }), []);
  const { grants } = await start(t, { scope_grants: true, default_grants: ['read:own'] });
  t.strictSame(await grants({ scope: 'openid invoke:support' }), ['read:own', 'invoke:support']);
  t.strictSame(await grants({ scope: 'openid' }), ['read:own']);
});

t.test('reports that only known users are accepted', async (t) => {
  const { verify } = await start(t, { provision: 'known' });
  t.match(await verify(), { provision: 'known' });
});
