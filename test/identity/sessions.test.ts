import t from 'tap';
import { isWellFormed, SESSION_PREFIX } from '../../src/identity/credentials/key-format.ts';
import { createIdentity } from '../../src/identity/index.ts';
import { adminIn } from '../../src/schema/principal.ts';
import { ADMIN, by, IP, openIdentity, userWith } from './open.ts';

/** Sessions without a server: identity.md 2.5, and the bounds of 3.6. */

const BROWSER = { user_agent: 'Test', ip: '192.0.2.1' };

t.test('a session of an admin token ends when the service has another one', async (t) => {
  const opened = await openIdentity(t);
  const { token } = await opened.sessions.start(ADMIN, BROWSER);
  t.match(opened.judgeSession(token, IP), { user: undefined, credential: { kind: 'session' } });
  const restarted = (adminToken: string | undefined) => createIdentity({ ...opened.deps, adminToken });
  t.match(restarted(opened.deps.adminToken).judgeSession(token, IP), { user: undefined });
  for (const other of ['another-token', undefined])
    t.throws(() => restarted(other).judgeSession(token, IP), { message: 'session has ended' });
});

t.test('a session of an account ends when its issuer is removed from the settings', async (t) => {
  const opened = await openIdentity(t);
  const alice = { issuer: 'https://idp.example', subject: 's1', scope: 'acme', user: 'alice' };
  const grants = { texts: [], list: [] };
  const principal = await opened.bind({ ...alice, grants, iat: 1, exp: 2_000_000_000 });
  const { token } = await opened.sessions.startOfAccount(by(principal), BROWSER);
  t.match(opened.judgeSession(token, IP), { user: 'alice' });
  const settings = { ...opened.deps.settings, issuers: [] };
  t.throws(() => createIdentity({ ...opened.deps, settings }).judgeSession(token, IP), {
    message: 'session has ended',
  });
});

t.test('a session from a session has a new id and lasts no longer', async (t) => {
  const { sessions, judgeSession, clock } = await openIdentity(t, { session_max_secs: 1000 });
  const first = await sessions.start(ADMIN, BROWSER);
  clock.ms += 600_000;
  const second = await sessions.start(by(judgeSession(first.token, IP)), BROWSER);
  t.not(second.principal.credential.id, first.principal.credential.id);
  t.throws(() => judgeSession(first.token, IP), { message: 'session has ended' });
  clock.ms += 399_999;
  t.match(judgeSession(second.token, IP), { credential: { id: second.principal.credential.id } });
  clock.ms += 1;
  t.throws(() => judgeSession(second.token, IP), { message: 'session has ended' });
});

t.test('a shorter life in the settings ends older sessions too', async (t) => {
  const opened = await openIdentity(t);
  const { token } = await opened.sessions.start(ADMIN, BROWSER);
  opened.clock.ms += 60_000;
  const settings = { ...opened.deps.settings, session_max_secs: 60 };
  const { judgeSession } = createIdentity({ ...opened.deps, settings });
  t.throws(() => judgeSession(token, IP), { message: 'session has ended' });
});

t.test('the shortest idle time is exact while the service runs', async (t) => {
  const { sessions, judgeSession, clock } = await openIdentity(t, { session_idle_secs: 60 });
  const { token } = await sessions.start(ADMIN, BROWSER);
  for (let count = 0; count < 5; count += 1) {
    clock.ms += 59_999;
    judgeSession(token, IP);
  }
  clock.ms += 60_000;
  t.throws(() => judgeSession(token, IP), { message: 'session has ended' });
});

t.test('the last use is written at most once a minute', async (t) => {
  const { sessions, judgeSession, store, clock } = await openIdentity(t);
  const { token } = await sessions.start(ADMIN, BROWSER);
  const commit = t.capture(store, 'commit', store.commit);
  for (let count = 0; count < 1000; count += 1) {
    clock.ms += 100;
    judgeSession(token, IP);
  }
  t.equal(commit().length, 1);
});

t.test('unknown texts are invalid, and those that were issued have ended', async (t) => {
  const { sessions, judgeSession } = await openIdentity(t);
  const { token } = await sessions.start(ADMIN, BROWSER);
  t.ok(isWellFormed(SESSION_PREFIX, token));
  await sessions.signOut(by(judgeSession(token, IP)));
  t.throws(() => judgeSession(token, IP), { message: 'session has ended', reason: 'expired' });
  for (const text of ['tps_', `${token}0`, token.slice(0, -1), `tps_${'0'.repeat(49)}`])
    t.throws(() => judgeSession(text, IP), { message: 'invalid credential' }, text);
});

t.test('rows of expired sessions are removed with new ones', async (t) => {
  const { sessions, store, clock } = await openIdentity(t);
  for (let count = 0; count < 5; count += 1) await sessions.start(ADMIN, BROWSER);
  t.equal(sessions.count(), 5);
  clock.ms += 604_800_000;
  t.equal(sessions.count(), 0);
  for (let count = 0; count < 3; count += 1) await sessions.start(ADMIN, BROWSER);
  t.equal(store.sessions.ofUser('acme', '~admin').length, 3);
  t.equal(sessions.count(), 3);
});

t.test('a program without a user is not the admin token', async (t) => {
  const { sessions } = await openIdentity(t);
  await sessions.start(ADMIN, BROWSER);
  const program = by({
    ...adminIn('acme', 'program'),
    authority: userWith('x', ['member']).principal.authority,
  });
  await t.rejects(sessions.start(program, BROWSER), { name: 'Invalid' });
  t.throws(() => sessions.list(program.principal, {}), { name: 'Forbidden' });
});
