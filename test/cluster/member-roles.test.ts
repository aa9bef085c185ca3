import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { createProxied, TTL_MS } from './proxied.ts';
import { type Serving, type ServingOptions, until, untilState } from './serving.ts';

/** Members that take over from each other (cluster.md 19.3), in one process. */

t.setTimeout(240_000);

const textsIn = (sql: (text: string) => string): string[] =>
  sql('SELECT value FROM troupe.row WHERE kind = 3 ORDER BY key')
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text));

t.test('members', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test('one member is active, and its graceful end lets another take over (check 20)', async (t) => {
    const { database, sql, startPair } = createProxied(t, postgres);
    const { a, b } = await startPair();
    t.equal(b.member.state(), 'standby');
    t.match(b.member.active(), { id: a.member.self()?.id, name: 'a', url: 'http://a' });
    t.equal(a.member.active(), undefined);
    t.equal(await a.service().say('one'), 'applied');
    b.member.reached(a.member.self()?.id ?? '', false);
    await until(() => b.member.view().members[0]?.copy_bytes === 4096, 'a report of the active member');
    t.match(b.member.view(), {
      mode: 'postgres',
      database: { status: 'ok', version: /^\d+/, schema: 'troupe', pooled: false },
      leader: a.member.self()?.id,
      members: [
        { name: 'a', state: 'active', self: false, reachable: false, executing: 1, waiting: 2, lineages: 3 },
        { name: 'b', state: 'standby', self: true, reachable: null, version: '0.2.0', copy_bytes: 0 },
      ],
    });
    const left = a.member.leave();
    await until(() => a.service().calls.includes('drain'), 'the end of the service');
    const endedAt = performance.now();
    await untilState(b, 'active');
    t.ok(performance.now() - endedAt < 1000, `${Math.round(performance.now() - endedAt)} ms`);
    await left;
    t.strictSame(a.service().calls, ['drain']);
    t.strictSame(b.service().texts, ['one', `last words of ${a.service().id}`].sort());
    t.match(b.member.view().members[0], { name: 'a', state: 'gone', reason: 'left' });
    t.strictSame(await a.member.ended, { state: 'gone', reason: 'left' });
    t.ok(b.events().includes('cluster.took_over'));
    t.match(await b.metrics(), /service_cluster_takeovers_total 1\n/);
    t.match(await b.metrics(), /service_cluster_state\{state="active"\} 1\n/);
    t.notMatch(await a.metrics(), /service_cluster_state\{/, 'a member that has left has no readings');
    await b.member.leave();
    await until(() => postgres.backends(database).length === 0, 'the end of all connections');
    t.equal(sql(`SELECT count(*) FROM troupe.member WHERE state <> 'gone'`), '0');
  });

  await t.test(
    'a member that loses the database is isolated before another is active (check 23)',
    async (t) => {
      const { sql, startPair } = createProxied(t, postgres);
      const { a, b, proxyOfA } = await startPair();
      const first = a.service();
      t.equal(await first.say('before'), 'applied');
      proxyOfA.all('cut');
      const lost = first.say('unknown');
      await untilState(a, 'doubtful');
      await untilState(a, 'isolated');
      t.equal(b.member.state(), 'standby', 'no other member is active yet');
      t.strictSame(first.calls, ['suspend']);
      await untilState(b, 'active');
      t.equal(await b.service().say('after'), 'applied');
      proxyOfA.all('pass');
      await untilState(a, 'standby');
      t.ok(['fenced', 'abandoned'].includes(await lost), await lost);
      t.strictSame(first.calls, ['suspend', 'abandon']);
      t.not(a.member.self()?.id, first.id);
      t.strictSame(textsIn(sql), ['after', 'before'], 'each acknowledged text is stored once');
      t.match(
        a.lines.find(({ event }) => event === 'cluster.fenced'),
        { level: 'error', fields: { why: 'silent' } },
      );
      await until(() => b.member.view().members[0]?.state === 'gone', 'a read behind the end of the other');
      t.match(b.member.view().members[0], { state: 'gone', reason: 'fenced by b' });
    },
  );

  await t.test('the same member continues behind an outage of the database (check 24)', async (t) => {
    const { startPair, sql } = createProxied(t, postgres);
    const { a, b } = await startPair();
    const { id } = a.service();
    await postgres.crash();
    const waiting = a.service().say('waits');
    await untilState(a, 'isolated');
    await pause(TTL_MS);
    t.equal(a.member.state(), 'isolated');
    t.equal(b.member.view().database.status, 'error');
    await postgres.start();
    await untilState(a, 'active');
    t.equal(await waiting, 'applied');
    await pause(TTL_MS * 1.5);
    t.equal(a.member.state(), 'active');
    t.equal(a.member.self()?.id, id);
    t.equal(b.member.state(), 'standby');
    t.strictSame(a.service().calls, ['suspend', 'resume']);
    t.equal(a.services.length, 1);
    t.equal(sql(`SELECT count(*) FROM troupe.member WHERE state = 'gone'`), '0', 'no member was fenced');
    t.match(await a.metrics(), /service_cluster_commit_unknown_total\{settled="open"\} 1\n/);
  });

  await t.test('a member with a broken copy leaves, and another takes over at once (check 28)', async (t) => {
    const { startPair } = createProxied(t, postgres);
    const { a, b } = await startPair();
    const broken = a.service();
    const brokenAt = performance.now();
    broken.breakCopy();
    await untilState(b, 'active');
    t.ok(performance.now() - brokenAt < TTL_MS, 'no lease has to end');
    await until(() => b.member.view().members[0]?.state === 'gone', 'a read of the end');
    t.equal(b.member.view().members[0]?.reason, 'left: its copy is broken');
    await untilState(a, 'standby');
    t.strictSame(broken.calls, ['abandon']);
    t.ok(a.events().includes('cluster.copy_broken'));
    t.match(await a.metrics(), /service_cluster_fenced_total\{why="copy"\} 1\n/);
    await until(() => a.member.active() !== undefined, 'a read of the active member');
    t.match(a.member.active(), { name: 'b' });
  });

  await t.test('a member drains at the request of another', async (t) => {
    const { startPair } = createProxied(t, postgres);
    const { a, b } = await startPair();
    t.equal(await b.member.drain('missing'), false);
    t.equal(await b.member.drain(a.member.self()?.id ?? ''), true);
    t.strictSame(await a.member.ended, { state: 'gone', reason: 'left' });
    await untilState(b, 'active');
    t.equal(await b.member.drain(b.member.self()?.id ?? ''), true);
    t.strictSame(await b.member.ended, { state: 'gone', reason: 'left' });
  });

  await t.test('a service that cannot start is tried again, or by another member', async (t) => {
    const { start, create } = createProxied(t, postgres);
    let attempts = 0;
    const { serving: a } = await start({
      name: 'a',
      opening: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('no room');
      },
    });
    await until(() => a.events().includes('cluster.load_failed'), 'the failure');
    await untilState(a, 'active');
    t.equal(attempts, 2);
    const { serving: c } = await create({ name: 'a' });
    await c.member.start();
    await until(() => c.events().includes('cluster.name_taken'), 'the warning about the name');
  });

  await t.test('a member whose membership ends while it drains abandons its service', async (t) => {
    const { start, sql } = createProxied(t, postgres);
    const { serving: a } = await start({
      name: 'a',
      draining: ({ calls }) => until(() => calls.includes('abandon'), 'the end of the membership'),
    });
    await untilState(a, 'active');
    const left = a.member.leave();
    await until(() => a.service().calls.includes('drain'), 'the graceful end');
    t.equal(a.member.state(), 'draining');
    sql(`UPDATE troupe.member SET state = 'gone', reason = 'fenced by x'`);
    await left;
    t.strictSame(a.service().calls, ['drain', 'abandon']);
    t.strictSame(await a.member.ended, { state: 'gone', reason: 'left' });
  });

  await t.test('a member can leave before its start', async (t) => {
    const { create } = createProxied(t, postgres);
    const { serving } = await create({ name: 'a' });
    await serving.member.leave();
    t.strictSame(await serving.member.ended, { state: 'gone', reason: 'left' });
  });

  await t.test('three fences in ten minutes are reported with the longest pause', async (t) => {
    const { start, sql } = createProxied(t, postgres);
    const { serving: a } = await start({ name: 'a' });
    for (let round = 1; round <= 3; round += 1) {
      await until(() => a.services.length === round && a.member.state() === 'active', 'an active member');
      sql(`UPDATE troupe.member SET state = 'gone', reason = 'fenced by x' WHERE id = '${a.service().id}'`);
      await until(() => a.service().calls.includes('abandon'), 'the end');
    }
    const repeated = a.lines.filter(({ event }) => event === 'cluster.fenced_repeatedly');
    t.match(repeated, [{ level: 'error', fields: { times: 3, longest_pause_ms: Number } }]);
  });

  await t.test('a start waits for a database that is down, and can be ended before', async (t) => {
    const { create } = createProxied(t, postgres);
    const [waits, leaves] = [await create({ name: 'a' }), await create({ name: 'b' })];
    await postgres.stop();
    const started = waits.serving.member.start();
    const ended = leaves.serving.member.start();
    const unavailable = ({ events }: Serving) => events().includes('cluster.database_unavailable');
    await until(() => unavailable(waits.serving) && unavailable(leaves.serving), 'a failed attempt');
    await Promise.all([t.rejects(ended, /has left/), leaves.serving.member.leave()]);
    await postgres.start();
    await started;
    await untilState(waits.serving, 'active');
  });

  await t.test('a start ends with one line for a database that it cannot use (checks 36, 37)', async (t) => {
    const { create, start, sql } = createProxied(t, postgres);
    const agreed = { secrets_check: 'geheim', settings_hash: { SERVICE_SCOPE_ID: 'default' } };
    await start({ name: 'a', agreed });
    const refused = async (given: Partial<ServingOptions>, expected: RegExp): Promise<void> => {
      const { serving } = await create({ name: 'b', agreed, ...given });
      await t.rejects(serving.member.start(), { name: 'DatabaseRefused', message: expected });
      const { state, reason } = await serving.member.ended;
      t.equal(state, 'refused');
      t.notMatch(reason, /geheim|\n/);
      await t.rejects(serving.member.whenStanding());
    };
    await refused({ agreed: { ...agreed, secrets_check: 'geheim2' } }, /^SERVICE_SECRETS_KEY must be/);
    await refused({ agreed: { ...agreed, settings_hash: { SERVICE_SCOPE_ID: 'x' } } }, /^SERVICE_SCOPE_ID/);
    await refused({ ttlMs: TTL_MS + 1 }, /^SERVICE_LEASE_TTL_MS must be 3000/);
    await refused(
      { url: 'postgresql://u:geheim@host.invalid/d?sslmode=disable' },
      /'host\.invalid' is unknown/,
    );
    await refused({ url: postgres.url('missing') }, /the database 'missing' does not exist/);
    sql(`UPDATE troupe.meta SET value = 'false' WHERE name = 'ready'`);
    await refused({}, /is not ready/);
    sql(`UPDATE troupe.meta SET value = 'true' WHERE name = 'ready'`);
    sql(`INSERT INTO troupe.member (id, name, url, slot, state, program, joined_at, beat, commons)
      SELECT 'x' || s, 'x', 'http://x', s, 'live', '1', 1, 0, 0 FROM generate_series(1, 31) s`);
    await refused({}, /^no slot is free: the cluster has 32 members$/);
    sql(`UPDATE troupe.meta SET value = '9' WHERE name = 'version'`);
    await refused({}, /^the database has schema 9/);
  });

  await t.test('a member that has left has no timer', async (t) => {
    const { startPair } = createProxied(t, postgres);
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const { a, b } = await startPair();
    await Promise.all([a.member.leave(), b.member.leave()]);
    await pause(10);
    t.ok(timers() <= before, `${timers()} timers, before ${before}`);
  });
});

t.test('no statement reads the clock of the database (check 25)', async (t) => {
  const folder = 'src/postgres';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts'));
  t.ok(sources.length > 10);
  for (const file of sources) {
    const text = readFileSync(join(folder, file), 'utf8');
    t.notMatch(text, /(?:clock|statement|transaction)_timestamp|timeofday|current_time|localtime/i, file);
    // The clock of this process has a method of the same name.
    t.notMatch(text, /(?<![.\w])now\(\)(?!:)/i, file);
  }
});
