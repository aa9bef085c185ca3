import t from 'tap';
import { openStore } from '../../src/store/index.ts';
import { startChild } from '../store/child.ts';
import { oauthKit } from './oauth-server.ts';
import { ALICE, acting, BOB, connect, entry, failure, openConnections } from './open.ts';

t.test('connects an account, and returns its token to no other account (check 92)', async (t) => {
  const kit = await oauthKit(t);
  const { connections } = await openConnections(t);
  connections.apply([entry(kit)]);
  t.strictSame(await connections.token(acting(ALICE), entry(kit)), { type: 'none', scopes: ['notes:read'] });
  const connected: unknown[] = [];
  connections.onConnected((...who) => void connected.push(who));
  await connect(connections, kit);
  t.strictSame(connected, [[ALICE, 'notes']]);
  t.match(await connections.token(acting(ALICE), entry(kit)), { type: 'token', token: /^at-/ });
  for (const other of [BOB, { scope: 'acme', user: undefined }, { scope: 'globex', user: 'alice' }]) {
    t.match(await connections.token(acting(other), entry(kit)), { type: 'none' });
    t.strictSame(connections.list(other), []);
  }
  t.match(connections.list(ALICE), [
    { server: 'notes', state: 'connected', scopes: ['notes:read'], issuer: kit.issuer },
  ]);
});

t.test(
  'refreshes once for 20 parallel calls at expiry, before a server with reuse detection (check 84)',
  async (t) => {
    const kit = await oauthKit(t);
    const { connections, clock, results } = await openConnections(t);
    connections.apply([entry(kit)]);
    await connect(connections, kit);
    for (let round = 1; round <= 3; round += 1) {
      clock.time += 3_541_000;
      const before = kit.requests.length;
      const tokens = await Promise.all(
        Array.from({ length: 20 }, () => connections.token(acting(ALICE), entry(kit))),
      );
      t.equal(new Set(tokens.map((each) => JSON.stringify(each))).size, 1);
      t.equal(kit.requests.slice(before).filter((each) => each.startsWith('POST /token')).length, 1);
      t.equal(results.length, round);
    }
    t.strictSame([...new Set(results)], ['ok']);
    t.notOk(
      kit.grants.some(({ revoked }) => revoked),
      'no refresh token was used twice',
    );
  },
);

t.test('refreshes once after calls in parallel were answered with 401 (check 84)', async (t) => {
  const kit = await oauthKit(t);
  const { connections, results } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  const first = await connections.token(acting(ALICE), entry(kit));
  if (first.type !== 'token') throw new Error('not connected');
  const refusal = { token: first.token, status: 401 as const, challenge: undefined };
  const tokens = await Promise.all(
    Array.from({ length: 20 }, () => connections.token(acting(ALICE), entry(kit), refusal)),
  );
  t.equal(new Set(tokens.map((each) => JSON.stringify(each))).size, 1);
  t.not(tokens[0], first);
  t.strictSame(results, ['ok']);
});

t.test('stores a rotated refresh token before the new access token is used (check 84)', async (t) => {
  const kit = await oauthKit(t);
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'process' });
  const { connections, clock } = await openConnections(t, { store });
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  clock.time += 3_600_000;
  await connections.token(acting(ALICE), entry(kit));
  // As after a kill: the next process knows what was committed when the token was returned.
  await store.close();
  const again = await openStore({ dir, durability: 'process' });
  t.teardown(() => again.close());
  const next = await openConnections(t, { store: again });
  next.clock.time = clock.time + 3_600_000;
  next.connections.apply([entry(kit)]);
  t.match(await next.connections.token(acting(ALICE), entry(kit)), { type: 'token' });
  t.notOk(kit.grants.some(({ revoked }) => revoked));
});

t.test(
  'a process that is killed before it uses a new token has stored the rotated one (check 84)',
  async (t) => {
    const kit = await oauthKit(t);
    const dir = t.testdir();
    const store = await openStore({ dir, durability: 'process' });
    const { connections, clock } = await openConnections(t, { store });
    connections.apply([entry(kit)]);
    await connect(connections, kit);
    await store.close();
    for (let kill = 0; kill < 3; kill += 1) {
      clock.time += 3_600_000;
      const spec = JSON.stringify(entry(kit));
      const child = startChild(t, '../connections/child-refresh.ts', [dir, spec, String(clock.time)]);
      t.match(JSON.parse(await child.line()), { type: 'token', token: /^at-/ });
      child.kill();
      await child.exit;
    }
    t.equal(kit.requests.filter((each) => each === 'POST /token refresh_token').length, 3);
    const again = await openStore({ dir, durability: 'process' });
    t.teardown(() => again.close());
    const next = await openConnections(t, { store: again });
    next.clock.time = clock.time + 3_600_000;
    next.connections.apply([entry(kit)]);
    t.match(await next.connections.token(acting(ALICE), entry(kit)), { type: 'token' });
    t.notOk(
      kit.grants.some(({ revoked }) => revoked),
      'no refresh token was used twice',
    );
  },
);

t.test('keeps a rotated token that cannot be stored, and returns it once it is (check 84)', async (t) => {
  const kit = await oauthKit(t);
  const { connections, clock, store } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  clock.time += 3_600_000;
  const disk = { full: true };
  const errors: string[] = [];
  const onFullDisk = () =>
    openConnections(t, {
      store: {
        ...store,
        commit: (...given: Parameters<typeof store.commit>) =>
          disk.full ? Promise.reject(new Error('disk full')) : store.commit(...given),
      } as typeof store,
      log: { warn: () => {}, error: (event) => void errors.push(event) },
    });
  const broken = await onFullDisk();
  broken.clock.time = clock.time;
  broken.connections.apply([entry(kit)]);
  for (let call = 0; call < 2; call += 1)
    await t.rejects(broken.connections.token(acting(ALICE), entry(kit)), { message: /could not be stored/ });
  t.strictSame(errors, ['connection.not_stored', 'connection.not_stored']);
  t.equal(kit.requests.filter((each) => each.startsWith('POST /token')).length, 2, 'one refresh');
  disk.full = false;
  t.match(await broken.connections.token(acting(ALICE), entry(kit)), { type: 'token' });
  t.equal(kit.requests.filter((each) => each.startsWith('POST /token')).length, 2, 'no other refresh');

  disk.full = true;
  broken.clock.time += 3_600_000;
  await t.rejects(broken.connections.token(acting(ALICE), entry(kit)), { message: /could not be stored/ });
  disk.full = false;
  await broken.connections.close();
  const next = await openConnections(t, { store });
  next.clock.time = broken.clock.time + 3_600_000;
  next.connections.apply([entry(kit)]);
  t.match(await next.connections.token(acting(ALICE), entry(kit)), { type: 'token' }, 'stored at the end');
  t.notOk(kit.grants.some(({ revoked }) => revoked));
});

t.test('drops a kept token of a connection that was made again', async (t) => {
  const kit = await oauthKit(t);
  const { connections, clock, store } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  const disk = { full: false };
  const broken = await openConnections(t, {
    store: {
      ...store,
      commit: (...given: Parameters<typeof store.commit>) =>
        disk.full ? Promise.reject(new Error('disk full')) : store.commit(...given),
    } as typeof store,
  });
  broken.connections.apply([entry(kit)]);
  broken.clock.time = clock.time + 3_600_000;
  disk.full = true;
  await t.rejects(broken.connections.token(acting(ALICE), entry(kit)));
  disk.full = false;
  await connect(broken.connections, kit);
  const before = kit.grants.length;
  broken.clock.time += 3_600_000;
  t.match(await broken.connections.token(acting(ALICE), entry(kit)), { type: 'token' });
  t.notOk(
    kit.grants.slice(before - 1).some(({ revoked }) => revoked),
    'the tokens of the second connection are used',
  );
});

t.test('expires a connection after invalid_grant, and keeps it after an outage (check 85)', async (t) => {
  const kit = await oauthKit(t);
  const { connections, clock, results } = await openConnections(t);
  const ended: unknown[] = [];
  connections.onEnded((...who) => void ended.push(who));
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  clock.time += 3_600_000;
  kit.options.tokenStatus = 503;
  await t.rejects(connections.token(acting(ALICE), entry(kit)), {
    name: 'ConnectionFailure',
    reason: 'unavailable',
  });
  for (const error of ['invalid_request', 'temporarily_unavailable']) {
    kit.options.tokenStatus = 200;
    kit.options.refreshError = error;
    await t.rejects(connections.token(acting(ALICE), entry(kit)), failure('unavailable'));
  }
  kit.options.refreshError = undefined;
  t.match(await connections.token(acting(ALICE), entry(kit)), { type: 'token' }, 'the connection was kept');
  clock.time += 3_600_000;
  kit.options.refreshError = 'invalid_grant';
  t.strictSame(await connections.token(acting(ALICE), entry(kit)), {
    type: 'expired',
    scopes: ['notes:read'],
  });
  t.match(connections.list(ALICE), [{ state: 'expired' }]);
  t.strictSame(results, ['failed', 'failed', 'failed', 'ok', 'expired']);
  t.strictSame(ended.length, 1);
  kit.options.refreshError = undefined;
  await connect(connections, kit);
  t.match(await connections.token(acting(ALICE), entry(kit)), { type: 'token' });
});

t.test('uses a token until its end during an outage of the authorization server', async (t) => {
  const kit = await oauthKit(t);
  const { connections, clock } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  kit.options.tokenStatus = 503;
  clock.time += 3_550_000;
  t.match(await connections.token(acting(ALICE), entry(kit)), { type: 'token' });
  clock.time += 50_000;
  await t.rejects(connections.token(acting(ALICE), entry(kit)), failure('unavailable'));
});

t.test(
  'requests one token of a service for 100 calls, and renews it before its expiry (check 90)',
  async (t) => {
    const kit = await oauthKit(t, { clients: new Map([['robot', 'its-secret']]) });
    const auth = { flow: 'client_credentials', client_id: 'robot', client_secret: 'its-secret' };
    for (const more of [{}, { token_url: kit.issuer.replace('/as', '/token') }]) {
      const { connections, clock } = await openConnections(t);
      const spec = entry(kit, { ...auth, issuer: kit.issuer, ...more });
      connections.apply([spec]);
      const before = kit.grants.length;
      const noUser = acting({ scope: 'acme', user: undefined });
      const tokens = await Promise.all(Array.from({ length: 100 }, () => connections.token(noUser, spec)));
      t.equal(new Set(tokens.map((each) => JSON.stringify(each))).size, 1);
      t.equal(kit.grants.length - before, 1);
      clock.time += 3_539_000;
      await connections.token(noUser, spec);
      t.equal(kit.grants.length - before, 1);
      clock.time += 2_000;
      await connections.token(noUser, spec);
      t.equal(kit.grants.length - before, 2, 'less than 60 seconds were left');
    }
  },
);

t.test(
  'does not use connections after the URL, issuer or client of an entry has changed (check 89)',
  async (t) => {
    const kit = await oauthKit(t);
    const { connections } = await openConnections(t);
    connections.apply([entry(kit)]);
    await connect(connections, kit);
    for (const changed of [
      entry(kit, {}, { url: kit.url.replace('/mcp', '/other') }),
      entry(kit, { issuer: 'https://login.other.example' }),
      entry(kit, { client_id: 'other' }),
    ]) {
      const answer = await connections.token(acting(ALICE), changed).catch(() => 'no metadata');
      t.notMatch(answer, { type: 'token' });
    }
    connections.apply([entry(kit, {}, { url: kit.url.replace('/mcp', '/other') })]);
    await connections.close();
    connections.apply([entry(kit)]);
    t.strictSame(connections.list(ALICE), [], 'the former URL brings no connection back');
    await connect(connections, kit);
    connections.retain(new Set());
    await connections.close();
    t.strictSame(connections.list(ALICE), []);
  },
);

t.test('revokes the tokens of a removed connection at its authorization server', async (t) => {
  const kit = await oauthKit(t);
  const { connections } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  t.equal(await connections.revoke(ALICE, 'notes'), true);
  t.equal(await connections.revoke(ALICE, 'notes'), false);
  t.strictSame(
    kit.grants.map(({ revoked }) => revoked),
    [true],
  );
  t.match(await connections.token(acting(ALICE), entry(kit)), { type: 'none' });
  await connect(connections, kit);
  kit.options.serverMetadata = { revocation_endpoint: 'http://127.0.0.1:1/revoke' };
  t.equal(await connections.revoke(ALICE, 'notes'), true, 'an outage does not keep the connection');
  await connect(connections, kit, BOB);
  await connections.removeAll(BOB);
  t.strictSame(connections.list(BOB), []);
});

t.test('removes a connection that was revoked while it was refreshed', async (t) => {
  const kit = await oauthKit(t);
  const { connections, clock } = await openConnections(t);
  connections.apply([entry(kit)]);
  await connect(connections, kit);
  clock.time += 3_600_000;
  let proceed = (): void => {};
  kit.options.hold = new Promise((resolve) => {
    proceed = resolve;
  });
  const refreshing = connections.token(acting(ALICE), entry(kit));
  const revoked = connections.revoke(ALICE, 'notes');
  proceed();
  await Promise.all([refreshing, revoked]);
  t.strictSame(connections.list(ALICE), []);
});

t.test('fails a call whose scopes are beyond the entry, and asks for others again (check 88)', async (t) => {
  const kit = await oauthKit(t);
  const refusalOf = async (
    connections: Awaited<ReturnType<typeof openConnections>>['connections'],
    spec = entry(kit),
  ) => {
    const answer = await connections.token(acting(ALICE), spec);
    if (answer.type !== 'token') throw new Error('not connected');
    const challenge = 'Bearer error="insufficient_scope", scope="notes:write"';
    return { token: answer.token, status: 403 as const, challenge };
  };
  const free = await openConnections(t);
  free.connections.apply([entry(kit)]);
  await connect(free.connections, kit);
  t.equal((await free.connections.discover('notes')).confirm_scopes, true);
  t.strictSame(await free.connections.token(acting(ALICE), entry(kit), await refusalOf(free.connections)), {
    type: 'none',
    scopes: ['notes:read', 'notes:write'],
  });
  await connect(free.connections, kit, ALICE, ['notes:read', 'notes:write']);
  t.match(
    await free.connections.token(acting(ALICE), entry(kit), await refusalOf(free.connections)),
    { type: 'refused' },
    'the same scopes are not requested again',
  );
  const bound = entry(kit, { scopes: ['notes:read'] });
  const limited = await openConnections(t);
  limited.connections.apply([bound]);
  await connect(limited.connections, kit);
  t.equal((await limited.connections.discover('notes')).confirm_scopes, false);
  await t.rejects(
    limited.connections.token(acting(ALICE), bound, await refusalOf(limited.connections, bound)),
    {
      message: "server 'notes' asks for scopes that its entry does not allow: notes:write",
    },
  );
  kit.options.challenge = 'Bearer scope="notes:read notes:write"';
  const later = await openConnections(t);
  later.connections.apply([bound]);
  await t.rejects(later.connections.discover('notes'), { message: /does not allow: notes:write/ });
});
