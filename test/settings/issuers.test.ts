import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { loadSettings, type Settings, settingsFrom } from '../../src/settings/index.ts';
import { problemsOf } from './problems.ts';

/** The setting `identity.issuers` (identity.md 2.3), and the rules that stop a start. */

const ACME = { id: 'acme', issuer: 'https://login.acme.example', audiences: ['https://agents.example'] };

const load = (value: unknown, env: Record<string, string> = {}): Promise<Settings> =>
  loadSettings({
    flags: {},
    env: { SERVICE_IDENTITY_ISSUERS: typeof value === 'string' ? value : JSON.stringify(value), ...env },
    readFile: () => '',
  });

/** The problems of one issuer with these fields, without the name of the setting. */
const problems = async (fields: object, env: Record<string, string> = {}): Promise<readonly string[]> => {
  const found = await problemsOf(() => load([{ ...ACME, ...fields }], env));
  return found.map((problem) =>
    problem.replace(/^SERVICE_IDENTITY_ISSUERS( \(identity\.issuers\))?\[0\]\.?/, ''),
  );
};

t.test('an issuer has defaults', async (t) => {
  const { identity } = await load([ACME]);
  t.strictSame(identity.issuers, [
    {
      ...ACME,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      claims: { user: ['sub'] },
      map: {},
      default_grants: [],
      scope_grants: false,
      service_grants: false,
      provision: 'auto',
      clock_skew_secs: 60,
      max_age_secs: 86_400,
      accept_id_tokens: false,
    },
  ]);
  t.strictSame(settingsFrom({ identity: { issuers: [ACME] } }).identity.issuers, identity.issuers);
});

t.test('a path of claims is a dotted text or a list of names', async (t) => {
  const claims = { user: 'profile.id', roles: ['https://acme.example/roles'] };
  const { identity } = await load([{ ...ACME, claims }]);
  t.match(identity.issuers, [{ claims: { user: ['profile', 'id'], roles: ['https://acme.example/roles'] } }]);
});

t.test('rejects fields with their position, and no value of the secret', async (t) => {
  const field = async (fields: object, expected: RegExp): Promise<void> => {
    const found = await problems(fields);
    t.match(found.join('\n'), expected);
    t.equal(found.length, 1, found.join('\n'));
  };
  await field({ id: 'a/b' }, /^id: must have 1 to 64 letters/);
  await field(
    { issuer: 'http://login.acme.example' },
    /^issuer: must be an https URL, or http on a loopback host/,
  );
  await field({ issuer: 'https://login.acme.example?x=1' }, /^issuer: /);
  await field({ issuer: 'https://me:hush@login.acme.example' }, /^issuer: (?!.*hush)/);
  await field({ issuer: 'ftp://login.acme.example' }, /^issuer: /);
  await field({ algorithms: ['HS256'] }, /^algorithms\[0\]: must be one of 'RS256'/);
  await field({ algorithms: ['none'] }, /^algorithms\[0\]: must be one of/);
  await field({ audiences: [] }, /^audiences: must have at least 1 items/);
  await field({ jwks_uri: 'http://keys.example' }, /^jwks_uri: must be an https URL/);
  await field({ jwks: { keys: [] } }, /^jwks\.keys: /);
  await field(
    { jwks: { keys: [{ kty: 'oct', k: 'hush' }] } },
    /^jwks\.keys\[0\]\.kty: must be one of (?!.*hush)/,
  );
  await field({ scopes: ['*'] }, /^scopes: is not allowed without claims\.scope/);
  await field(
    { default_grants: ['invoice'] },
    /^default_grants\[0\]: 'invoice' is unknown: allowed are invoke/,
  );
  await field(
    { map: { x: ['keys:y'] }, claims: { roles: 'r' } },
    /^map\.x\[0\]: 'keys:y': 'keys' has no pattern/,
  );
  await field({ provision: 'never' }, /^provision: must be one of 'auto', 'known'/);
  await field({ max_age_secs: 0 }, /^max_age_secs: must be at least 1/);
  await field({ secret: 'hush' }, /^: unknown field 'secret'/);
  await field({ claims: { user: 'a..b' } }, /^claims\.user: must be names of claims/);
});

t.test('rejects a private key as a key of an issuer', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const found = await problems({ jwks: { keys: [privateKey.export({ format: 'jwk' })] } });
  t.strictSame(found, ['jwks.keys[0]: must be a public key, without its private members']);
});

t.test('rejects fields that contradict each other', async (t) => {
  const tenants = { claims: { scope: 'tid', roles: 'groups' }, scopes: ['acme-*'] };
  const both = { jwks: { keys: [{ kty: 'RSA' }] }, jwks_uri: 'https://keys.example' };
  t.strictSame(await problems(both), ['jwks_uri: is not allowed together with jwks']);
  t.strictSame(await problems({ ...tenants, scope: 'acme' }), [
    'scope: is not allowed together with claims.scope',
  ]);
  t.match(await problems({ ...tenants, scopes: undefined }), [
    /^scopes: is missing; claims\.scope needs the patterns/,
  ]);
  t.match(await problems({ ...tenants, service_grants: true }), [
    /^service_grants: must be false with claims\.scope/,
  ]);
  t.match(await problems({ ...tenants, map: { admins: ['member'] } }), [/^map: must map roles/]);
  t.strictSame(await problems({ ...tenants, map: { 'acme-*': { admins: ['member'] } } }), []);
  t.match(await problems({ claims: { roles: 'r' }, map: { 'acme-*': { admins: ['member'] } } }), [
    /^map: must map/,
  ]);
  t.match(await problems({ map: { admins: ['member'] } }), [/^map: is not allowed without claims\.roles/]);
  t.match(await problems({ default_grants: ['member', 'observe'] }), [
    /^default_grants: must not have service grants/,
  ]);
});

t.test('rejects two issuers with the same id or address', async (t) => {
  const start = () => load([ACME, { ...ACME, id: 'other' }, { ...ACME, issuer: 'https://x.example' }]);
  t.strictSame(await problemsOf(start), [
    'SERVICE_IDENTITY_ISSUERS[2].id: is that of an earlier issuer',
    'SERVICE_IDENTITY_ISSUERS[1].issuer: is that of an earlier issuer',
  ]);
});

t.test('rejects text that is not a list, without showing it', async (t) => {
  const expected = [
    'SERVICE_IDENTITY_ISSUERS: the value is not allowed; allowed: a list of issuers, as JSON',
  ];
  for (const text of ['hush', '{"id":"hush"}', '"hush"', '7'])
    t.strictSame(await problemsOf(() => load(text)), expected, text);
  t.strictSame((await load(' ')).identity.issuers, []);
  t.strictSame((await load('[]')).identity.issuers, []);
});

t.test('needs audiences, or an address of the service', async (t) => {
  t.match(await problems({ audiences: undefined }), [
    /^audiences: missing; allowed: a list of audiences, unless SER/,
  ]);
  t.strictSame(
    await problems({ audiences: undefined }, { SERVICE_PUBLIC_URL: 'https://agents.example' }),
    [],
  );
});

t.test('accepts the client of a sign-in as an audience only if ID tokens are accepted', async (t) => {
  const sign_in = { client_id: 'https://agents.example' };
  t.match(await problems({ sign_in }), [/^audiences: an ID token is not an access token/]);
  t.strictSame(await problems({ sign_in, accept_id_tokens: true }), []);
});

t.test('a sign-in needs an address of the service beyond loopback', async (t) => {
  const sign_in = { client_id: 'troupe' };
  t.strictSame(await problems({ sign_in }), []);
  const open = { SERVICE_HTTP_ADDR: '0.0.0.0:8080' };
  t.match(await problems({ sign_in }, open), [/^sign_in: SERVICE_PUBLIC_URL \(public_url\) is missing/]);
  t.strictSame(await problems({ sign_in }, { ...open, SERVICE_PUBLIC_URL: 'https://agents.example' }), []);
});
