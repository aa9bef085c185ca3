import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createTroupe, type TroupeConfig } from '../../src/index.ts';
import { createPrincipal } from '../../src/schema/principal.ts';

/** The start of a service that no client could use: identity.md 3.2, and check 3. */

const folderOf = (t: Test): string => {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, 'data');
};

/** Without admin routes, an admin token and anonymous access. */
const closed = (storage_dir: string, settings: TroupeConfig['settings'] = {}) => ({
  settings: {
    storage_dir,
    log_level: 'silent',
    http_addr: '127.0.0.1:0',
    AdminApiConfig: { expose_config_routes: false, expose_eval_routes: false, expose_trace_routes: false },
    identity: { anonymous: 'never' },
    ...settings,
  } as const,
});

const REFUSAL = {
  name: 'SettingsError',
  message:
    'no request could be authenticated: set SERVICE_ADMIN_API_BEARER_TOKEN (AdminApiConfig.bearer_token), ' +
    'SERVICE_IDENTITY_ISSUERS (identity.issuers) or SERVICE_ANONYMOUS_ACCESS=always (identity.anonymous), or create ' +
    'an API key with troupe keys create --offline',
};

t.test('starts once a key is stored, and not after it has ended (check 3)', async (t) => {
  const dir = folderOf(t);
  await t.rejects(createTroupe(closed(dir)), REFUSAL);

  const offline = await createTroupe({ ...closed(dir), listen: false });
  const { key, id } = await offline.keys.create({
    name: 'first',
    user: 'app',
    new_user: { kind: 'service', grants: ['member'] },
    expires_in_secs: null,
  });
  await offline.stop();

  const troupe = await createTroupe(closed(dir));
  const response = await fetch(`${troupe.url}/v1/threads`, { headers: { authorization: `Bearer ${key}` } });
  t.equal(response.status, 200);
  t.equal((await fetch(`${troupe.url}/v1/threads`)).status, 401);
  await troupe.keys.revoke(id);
  await troupe.stop();
  await t.rejects(createTroupe(closed(dir)), REFUSAL);
});

t.test('does not accept anonymous access that no client has', async (t) => {
  const identity = { anonymous: 'loopback' } as const;
  await t.rejects(createTroupe(closed(folderOf(t), { http_addr: '0.0.0.0:0', identity })), REFUSAL);
  const troupe = await createTroupe(closed(folderOf(t), { identity }));
  t.equal((await fetch(`${troupe.url}/v1/threads`)).status, 200);
  await troupe.stop();
});

t.test('starts with any way to authenticate', async (t) => {
  const issuers = [
    { id: 'acme', issuer: 'https://idp.example', audiences: ['https://agents.example'], scope: 'acme' },
  ];
  const member = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
  for (const options of [
    closed(folderOf(t), { identity: { anonymous: 'never', issuers } }),
    { ...closed(folderOf(t)), authenticate: () => member },
    closed(folderOf(t), { identity: { anonymous: 'always' } }),
  ]) {
    const troupe = await createTroupe(options);
    t.equal((await fetch(`${troupe.url}/health`)).status, 200);
    await troupe.stop();
  }
});
