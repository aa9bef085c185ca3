import t, { type Test } from 'tap';
import { type Client, createClient } from '../../src/client/index.ts';
import { oauthKit } from '../connections/oauth-server.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/** `client.connections` with a real MCP server and authorization server: identity.md 6.2, way (b). */

const RETURN_TO = 'https://app.example/connected?from=troupe';

const start = async (t: Test) => {
  const kit = await oauthKit(t);
  const { url } = await startTroupe(t, {
    settings: {
      secrets_key: 'a phrase for the secrets of this test',
      public_url: 'https://agents.example',
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: ['https://app.example'] },
    },
  });
  const clientOf = (token: string): Client => createClient({ url, token });
  const admin = clientOf(ADMIN_TOKEN);
  await admin.config.create('mcp-servers', {
    id: 'notes',
    transport: 'http',
    url: kit.url,
    auth: { type: 'oauth', allow_private: true, scopes: ['read'] },
  });
  const person = async (user: string): Promise<Client> => {
    const new_user = { kind: 'person' as const, grants: ['member'] };
    return clientOf((await admin.keys.create({ name: user, user, new_user })).key);
  };
  /** Follows the browser of the user from the address of a start to its return to the app. */
  const browse = async (address: string): Promise<URLSearchParams> => {
    const query = await kit.approve(address);
    const back = await fetch(`${url}/v1/authorizations/callback?${query}`, { redirect: 'manual' });
    const location = new URL(back.headers.get('location') ?? '');
    t.equal(location.origin + location.pathname, 'https://app.example/connected');
    return location.searchParams;
  };
  return { kit, admin, person, browse };
};

t.test('connects an account from an app, lists it and disconnects it', async (t) => {
  const { kit, admin, person, browse } = await start(t);
  const [alice, bob] = [await person('alice'), await person('bob')];
  const offered = await alice.connections.connect('notes');
  t.match(offered, { server: 'notes', state: 'offered', scopes: ['read'], url: /\/v1\/authorizations\// });
  const started = await alice.connections.start(offered.id, { return_to: RETURN_TO });
  const returned = await browse(started.url);
  t.equal(returned.get('authorization'), offered.id);
  t.equal(returned.get('from'), 'troupe');
  t.strictSame((await alice.connections.list()).items, [], 'the account is not connected before `confirm`');
  const code = returned.get('code') ?? '';
  t.strictSame(await alice.connections.confirm(offered.id, { code }), {
    server: 'notes',
    state: 'connected',
  });
  const account = { server: 'notes', state: 'connected', scopes: ['read'], issuer: kit.issuer };
  t.match((await alice.connections.list()).items, [account]);
  t.match((await admin.connections.list({ user: 'alice' })).items, [account]);
  t.strictSame((await bob.connections.list()).items, []);
  await t.rejects(bob.connections.disconnect('notes'), { name: 'NotFound' });
  await alice.connections.disconnect('notes');
  await t.rejects(alice.connections.disconnect('notes'), { name: 'NotFound' });
  t.strictSame((await alice.connections.list()).items, []);
});

t.test('an operator disconnects the account of another user', async (t) => {
  const { admin, person, browse } = await start(t);
  const alice = await person('alice');
  const { id } = await alice.connections.connect('notes');
  const { url } = await alice.connections.start(id, { return_to: RETURN_TO });
  const code = (await browse(url)).get('code') ?? '';
  await alice.connections.confirm(id, { code });
  await t.rejects(alice.connections.disconnect('notes', { user: 'bob' }), { name: 'Unauthorized' });
  await admin.connections.disconnect('notes', { user: 'alice' });
  t.strictSame((await alice.connections.list()).items, []);
});

t.test('an account is connected by its user only, and once', async (t) => {
  const { person, browse } = await start(t);
  const [alice, bob] = [await person('alice'), await person('bob')];
  const { id } = await alice.connections.connect('notes');
  await t.rejects(bob.connections.start(id, { return_to: RETURN_TO }), { name: 'NotFound' });
  await t.rejects(alice.connections.start(id, { return_to: 'https://evil.example' }), {
    name: 'InvalidRequest',
    message: /return_to/,
  });
  const { url } = await alice.connections.start(id, { return_to: RETURN_TO });
  const code = (await browse(url)).get('code') ?? '';
  await t.rejects(bob.connections.confirm(id, { code }), { name: 'Unauthorized', status: 403 });
  await t.rejects(alice.connections.confirm(id, { code }), { name: 'NotFound' }, 'the tokens are dropped');
  await t.rejects(alice.connections.connect('unknown'), { name: 'NotFound' });
});
