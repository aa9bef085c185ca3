import t, { type Test } from 'tap';
import { monotonicFactory } from 'ulid';
import { createAccessLog } from '../../src/identity/access-log/log.ts';
import { createAccessObserver, createAuthObserver } from '../../src/identity/auth-observer.ts';
import type { AccessDraft } from '../../src/schema/access-event.ts';
import { Forbidden, Unauthorized } from '../../src/schema/outcome.ts';
import { adminIn, createPrincipal } from '../../src/schema/principal.ts';
import { storeFor } from '../store/open.ts';

/** The access log on a store, with a clock that the tests set: identity.md 7, checks 94 and 96. */

const DAY_MS = 86_400_000;

const openLog = async (t: Test, { enabled = true } = {}) => {
  const store = await storeFor(t);
  const clock = { at: Date.UTC(2026, 10, 1), now: () => clock.at };
  const lines: string[] = [];
  const log = createAccessLog({
    store,
    clock,
    ulid: monotonicFactory(),
    settings: { enabled, retention_days: 90 },
    log: { warn: (event) => void lines.push(event), info: (event) => void lines.push(event) },
  });
  t.teardown(() => log.close());
  return { log, clock, lines, store };
};

const denial = (more: Partial<AccessDraft> = {}): AccessDraft => ({
  kind: 'denied',
  ip: '192.0.2.1',
  route: '/v1/runs',
  reason: 'invalid credential',
  ...more,
});

t.test('combines equal denials within a minute into one event with a count (check 94)', async (t) => {
  const { log, clock } = await openLog(t);
  log.record(denial());
  clock.at += 59_999;
  log.record(denial());
  log.record(denial({ ip: '192.0.2.2' }));
  log.record(denial({ route: '/v1/threads' }));
  clock.at += 1;
  log.record(denial());
  t.match((await log.page({})).items, [
    { ip: '192.0.2.1', route: '/v1/runs', count: 1 },
    { ip: '192.0.2.1', route: '/v1/threads', count: 1 },
    { ip: '192.0.2.2', count: 1 },
    { ip: '192.0.2.1', route: '/v1/runs', count: 2 },
  ]);
});

t.test('separates the denials of principals behind one address', async (t) => {
  const { log } = await openLog(t);
  for (const user of ['alice', 'bob', 'alice'])
    log.record(denial({ scope: 'acme', user, credential: { kind: 'key', id: `key-of-${user}` } }));
  t.match((await log.page({})).items, [
    { user: 'bob', count: 1 },
    { user: 'alice', count: 2 },
  ]);
});

t.test(
  'keeps at most 20 events of 10 000 different denials of one address in a minute (check 94)',
  async (t) => {
    const { log, clock } = await openLog(t);
    for (let n = 0; n < 10_000; n += 1) {
      clock.at += 6;
      log.record(denial({ route: `/v1/route-${n % 150}` }));
    }
    const { items } = await log.page({ limit: 1000 });
    t.ok(items.length <= 20, `${items.length} events`);
    t.equal(
      items.reduce((sum, { count }) => sum + count, 0),
      10_000,
    );
  },
);

t.test('bounds the events of many addresses, and counts the other denials', async (t) => {
  const { log } = await openLog(t);
  for (let n = 0; n < 3000; n += 1) log.record(denial({ ip: `2001:db8::${n.toString(16)}` }));
  let [events, denials, cursor] = [0, 0, undefined as string | undefined];
  do {
    const page = await log.page({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    events += page.items.length;
    for (const { count } of page.items) denials += count;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  t.equal(events, 1001);
  t.equal(denials, 3000);
});

t.test('writes the counts of the last minute when it closes', async (t) => {
  const { log, store } = await openLog(t);
  for (let n = 0; n < 5; n += 1) log.record(denial());
  await log.close();
  t.match(store.accessEvents.page({ limit: 10 }).items, [{ count: 5 }]);
});

t.test('pages by each filter, and rejects a cursor of another list', async (t) => {
  const { log } = await openLog(t);
  const observer = createAccessObserver(log);
  const place = { route: '/v1/session', ip: () => '192.0.2.7' };
  const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
  const bob = createPrincipal({ scope: 'globex', user: 'bob', grants: ['member'] });
  observer.signedIn(alice, place);
  observer.signedIn(bob, place);
  observer.connected(alice, 'mail', place);
  observer.disconnected(alice, 'mail', place);
  observer.signedOut(alice, place);
  observer.signInFailed({ reason: 'mismatch' }, { ...place, ip: () => '192.0.2.8' });
  const kinds = async (query: Parameters<typeof log.page>[0]) =>
    (await log.page(query)).items.map(({ kind }) => kind);
  t.strictSame(await kinds({ scope: 'acme' }), ['sign_out', 'disconnect', 'connect', 'sign_in']);
  t.strictSame(await kinds({ user: 'bob' }), ['sign_in']);
  t.strictSame(await kinds({ kind: 'sign_in' }), ['sign_in', 'sign_in']);
  t.strictSame(await kinds({ kind: 'sign_in', scope: 'globex', ip: '192.0.2.7' }), ['sign_in']);
  t.strictSame(await kinds({ ip: '192.0.2.8' }), ['sign_in_failed']);
  t.strictSame(await kinds({ credential: 'unknown' }), []);
  t.match((await log.page({ kind: 'connect' })).items, [{ reason: 'mail', user: 'alice', count: 1 }]);
  const first = await log.page({ limit: 4 });
  const rest = await log.page({ limit: 4, cursor: String(first.next_cursor) });
  t.equal(first.items.length + rest.items.length, 6);
  t.equal(rest.next_cursor, undefined);
  await t.rejects(log.page({ cursor: 'x' }), { message: 'invalid cursor' });
});

t.test('records an address that has not used the admin token for 30 days (check 96)', async (t) => {
  const { log, clock, lines } = await openLog(t);
  const use = (ip: string) => log.adminUsed('default', { route: '/v1/system/info', ip });
  use('192.0.2.1');
  use('192.0.2.1');
  use('192.0.2.2');
  clock.at += 20 * DAY_MS;
  use('192.0.2.1');
  clock.at += 20 * DAY_MS;
  use('192.0.2.1');
  use('192.0.2.2');
  t.match((await log.page({ kind: 'admin_new_address' })).items, [
    { ip: '192.0.2.2', user: '~admin', scope: 'default' },
    { ip: '192.0.2.2' },
    { ip: '192.0.2.1' },
  ]);
  t.equal(lines.filter((line) => line === 'access.admin_new_address').length, 3);
});

t.test('removes events after the retention', async (t) => {
  const { log, clock, store } = await openLog(t);
  for (let n = 0; n < 1200; n += 1)
    log.record({ kind: 'sign_in', scope: 's', user: `user-${n}`, ip: '192.0.2.1' });
  log.adminUsed('s', { route: '/', ip: '192.0.2.9' });
  await log.page({});
  clock.at += 91 * DAY_MS;
  const later = createAccessLog({
    store,
    clock,
    ulid: monotonicFactory(),
    settings: { enabled: true, retention_days: 90 },
    log: { warn: (event) => t.fail(event), info() {} },
  });
  t.teardown(() => later.close());
  while (store.accessEvents.adminSeenAt('192.0.2.9') !== undefined)
    await new Promise((resolve) => setImmediate(resolve));
  t.strictSame((await later.page({})).items, []);
  t.strictSame((await later.page({ user: 'user-3' })).items, []);
});

t.test('never fails a request, and reports a log that is switched off', async (t) => {
  const { log, lines, store } = await openLog(t);
  await store.close();
  t.doesNotThrow(() => log.record({ kind: 'sign_in', ip: '192.0.2.1' }));
  t.doesNotThrow(() => log.adminUsed('s', { route: '/', ip: '192.0.2.1' }));
  await log.close();
  t.ok(lines.includes('access.write_failed'));
  const { log: off } = await openLog(t, { enabled: false });
  off.record(denial());
  await t.rejects(off.page({}), { message: 'access log is not configured' });
});

t.test('records refusals of credentials and of rights, but no other failure', async (t) => {
  const { log } = await openLog(t);
  const counted: string[] = [];
  const observer = createAuthObserver((kind, result) => counted.push(`${kind} ${result}`), log);
  const at = { route: '/v1/users', address: () => '192.0.2.1' };
  const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
  observer.admitted(alice, at);
  observer.admitted(adminIn('default'), at);
  observer.rejected(['Bearer tpk_x'], new Unauthorized('invalid credential'), at);
  observer.rejected(alice, new Forbidden('this needs the grant manage'), at);
  observer.rejected(alice, new Error('the keys cannot be fetched'), at);
  observer.denied(alice, new Forbidden("a decision on 'x' needs decide:a/x"), { ...at, ip: at.address });
  observer.denied(alice, new Error('not found'), { ...at, ip: at.address });
  t.match((await log.page({})).items, [
    { kind: 'denied', user: 'alice', reason: "a decision on 'x' needs decide:a/x" },
    { kind: 'denied', user: 'alice', scope: 'acme', reason: 'this needs the grant manage' },
    { kind: 'denied', user: undefined, ip: '192.0.2.1', reason: 'invalid credential' },
    { kind: 'admin_new_address' },
  ]);
  t.strictSame(counted, ['program ok', 'admin ok', 'key invalid', 'program forbidden']);
});
