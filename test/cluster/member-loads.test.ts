import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { createProxied, TTL_MS } from './proxied.ts';
import { until, untilState } from './serving.ts';

/** Loads that take longer than the lease of their member (cluster.md 6.1). */

const BEATS_A_LEASE = 3;

t.setTimeout(240_000);

t.test('loads of members', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test('a load takes as long as it needs, also behind the end of its lease', async (t) => {
    const { start, sql } = createProxied(t, postgres);
    let skippedMs = 0;
    let attempts = 0;
    const beats = (): number => Number(sql('SELECT max(beat) FROM troupe.member'));
    const { serving: a } = await start({
      name: 'a',
      monotonic: () => performance.now() + skippedMs,
      opening: async () => {
        attempts += 1;
        skippedMs = 2 * TTL_MS;
        t.equal(a.member.state(), 'loading', 'a lease that has passed does not end it');
        const first = beats();
        await until(() => beats() >= first + 2 * BEATS_A_LEASE, 'the renewals of two leases');
      },
    });
    const { id } = a.member.self() ?? {};
    await untilState(a, 'active');
    t.strictSame([attempts, a.service().id, a.service().calls], [1, id, []]);
    t.notOk(a.events().includes('cluster.fenced'));
  });

  await t.test('a member whose lease has passed at the end of its load waits for a renewal', async (t) => {
    const { start } = createProxied(t, postgres);
    let skippedMs = 0;
    const { serving: a } = await start({
      name: 'a',
      monotonic: () => performance.now() + skippedMs,
      loaded() {
        skippedMs = 2 * TTL_MS;
        t.equal(a.member.state(), 'loading');
      },
    });
    await until(() => a.services[0]?.calls.includes('resume') === true, 'a renewal');
    t.strictSame(a.services[0]?.calls, ['suspend', 'resume']);
    t.equal(a.member.state(), 'active');
    t.notOk(a.events().includes('cluster.fenced'));
  });

  await t.test('a member that is silent during its load loses it to another', async (t) => {
    const { create } = createProxied(t, postgres);
    const { serving: b } = await create({ name: 'b' });
    const { serving: a, proxy } = await create({
      name: 'a',
      opening: async () => {
        proxy.all('cut');
        await untilState(b, 'active');
        proxy.all('pass');
        await untilState(a, 'fenced');
      },
    });
    await a.member.start();
    await untilState(a, 'loading');
    await b.member.start();
    await untilState(b, 'active');
    await untilState(a, 'standby');
    t.strictSame(a.services, [], 'a fenced member reads no rows');
    const shown = () => b.member.view().members.find(({ reason }) => reason === 'fenced by b');
    await until(() => shown() !== undefined, 'the end of the membership');
    t.match(shown(), { name: 'a', state: 'gone' });
  });

  await t.test('a member that leaves while it loads ends its load', async (t) => {
    const { start } = createProxied(t, postgres);
    const { serving: a } = await start({ name: 'a', opening: () => pause(300) });
    await untilState(a, 'loading');
    await a.member.leave();
    t.strictSame(a.services, [], 'the rows have ended');
  });
});
