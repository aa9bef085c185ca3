import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { Members } from '../../src/schema/members.ts';
import { startGate } from '../crash/gate.ts';
import { ADMIN } from '../crash/process.ts';
import { readThread } from '../crash/records.ts';
import { socketIn } from './pgbouncer.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { startProxy } from './proxy.ts';
import { becomes, createMembers, eventually, type Member } from './services.ts';
import { mountSmallDisk, NO_SMALL_DISK } from './small-disk.ts';

/** Services whose database does not take all that they write (cluster.md 19.3, checks 29 and 30). */

t.setTimeout(600_000);

/** A database that has no space between `fill` and `free`. */
type Disk = { postgres: Postgres; database: string; fill(): void; free(): void };

/** All tables of the database are on a small file system. */
const startSmallDisk = async (t: Test): Promise<Disk> => {
  const disk = mountSmallDisk(t);
  const postgres = await startPostgres(t);
  postgres.sql('postgres', `CREATE TABLESPACE small LOCATION '${disk.folder}'`);
  postgres.sql('postgres', 'CREATE DATABASE small TEMPLATE template0 TABLESPACE small');
  return { postgres, database: 'small', fill: disk.fill, free: disk.free };
};

/** The database reports an error for each row that matches a condition. */
const refuseRows = (postgres: Postgres, database: string, condition: string, code: string): void => {
  postgres.sql(
    database,
    `CREATE FUNCTION troupe.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the row is refused' USING ERRCODE = '${code}'; END $$`,
  );
  postgres.sql(
    database,
    `CREATE TRIGGER refusing BEFORE INSERT ON troupe.row FOR EACH ROW WHEN (${condition})
      EXECUTE FUNCTION troupe.refuse()`,
  );
};

const startRefusingDisk = async (t: Test): Promise<Disk> => {
  const postgres = await startPostgres(t);
  const database = postgres.createDatabase();
  return {
    postgres,
    database,
    fill: () => refuseRows(postgres, database, 'true', '53100'),
    free: () => void postgres.sql(database, 'DROP TRIGGER refusing ON troupe.row'),
  };
};

const DISKS: readonly [name: string, skip: string | false, start: (t: Test) => Promise<Disk>][] = [
  ['a full disk', NO_POSTGRES || NO_SMALL_DISK, startSmallDisk],
  ['an error that reports a full disk', NO_POSTGRES, startRefusingDisk],
];

/** A text that does not become shorter in the database. */
const LONG_TEXT = randomBytes(300_000).toString('base64');

const send = ({ client }: Member, thread: string, text: string) =>
  client.ask('POST', `/v1/threads/${thread}/mailbox`, { payload: { text } });

const Health = z.object({ components: z.object({ store: z.string(), member: z.string() }) });

const healthOf = async ({ url }: Member) => {
  const response = await fetch(`${url}/health`);
  const { components } = Health.parse(await response.json());
  return { status: response.status, ...components };
};

const HEALTH_CHECKS = 20;

for (const [name, skip, start] of DISKS)
  t.test(`a database with ${name} (check 29)`, { skip }, async (t) => {
    const gate = await startGate(t);
    const { postgres, database, fill, free } = await start(t);
    const [active, standby] = await createMembers(t, ['a', 'b'], {
      url: postgres.url(database),
      gate: gate.url,
    });
    if (!active || !standby) throw new Error('two members were expected');
    await active.start();
    await becomes(active, 'active');
    await standby.start();
    await becomes(standby, 'standby');
    t.equal((await send(standby, 'before', `[i1] talk 1 ${LONG_TEXT}`))?.status, 201);
    t.equal((await send(standby, 'held', '[h1] hold 2'))?.status, 201);
    await gate.until(1);
    const { leader } = await active.client.read('/v1/system/members', Members);

    fill();
    for (const member of [active, standby]) {
      const answer = await send(member, 'full', `[i2] talk 1 ${LONG_TEXT}`);
      t.match(answer, { status: 503, body: { error: /^the database cannot be written/ } }, member.name);
    }
    const health: unknown[] = [];
    for (let check = 0; check < HEALTH_CHECKS; check += 1) health.push(await healthOf(active));
    const unhealthy = { status: 503, store: 'error', member: 'active' };
    t.strictSame(health, Array(HEALTH_CHECKS).fill(unhealthy), 'no check succeeds while there is no space');
    t.equal((await readThread(standby.client, 'before')).messages.length, 2, 'stored data can be read');
    t.equal((await fetch(`${active.url}/health/live`)).status, 200);
    gate.open();

    free();
    await becomes(active, 'active');
    t.equal((await send(standby, 'full', `[i3] talk 1 ${LONG_TEXT}`))?.status, 201);
    for (const [thread, answer] of [
      ['held', 'answer to h1 and so on'],
      ['full', 'answer to i3'],
    ] as const)
      await eventually(`the run of ${thread} ends`, async () => {
        const { messages, runs } = await readThread(standby.client, thread);
        const [run, ...others] = runs;
        if (run?.status !== 'done') return undefined;
        t.match(run, { termination_reason: { type: 'natural_end' } });
        t.equal(others.length, 0);
        t.match(messages.at(-1), { role: 'assistant', content: [{ text: answer }] });
        return true;
      });
    const after = await standby.client.read('/v1/system/members', Members);
    t.equal(after.leader, leader, 'no other member took over');
    await standby.stop();
    await active.stop();
  });

const OTHERS = 10;

/** The member waits this long for the answer of a commit, at most 5 s, so that others can follow it. */
const TTL_MS = 20_000;

const inFlight = async ({ url }: Member): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { headers: ADMIN })).text();
  return Number(/^service_http_requests_in_flight (\d+)/m.exec(text)?.[1]);
};

t.test('a row that cannot be stored refuses its own input (check 30)', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const database = postgres.createDatabase();
  const proxy = await startProxy(t, { to: { path: socketIn(postgres.folder, postgres.port) } });
  const [member] = await createMembers(t, ['a'], {
    url: postgres.url(database, proxy.port),
    env: { SERVICE_LEASE_TTL_MS: String(TTL_MS) },
  });
  if (!member) throw new Error('a member was expected');
  await member.start();
  await becomes(member, 'active');
  refuseRows(postgres, database, `NEW.value LIKE '%poison%'`, '22P05');
  const before = await inFlight(member);

  const held = proxy.atNextMarked('hold');
  const first = send(member, 'first', '[f1] talk 1');
  await held;
  // All of these are in one group, which the next commit has.
  const others = Array.from({ length: OTHERS }, (_, index) =>
    send(member, `t${index}`, `[i${index}] talk 1`),
  );
  const faulty = send(member, 'faulty', '[p1] talk 1 poison');
  const later = Array.from({ length: OTHERS }, (_, index) => send(member, `u${index}`, `[j${index}] talk 1`));
  await eventually('all requests have arrived', async () =>
    (await inFlight(member)) >= before + 2 + 2 * OTHERS ? true : undefined,
  );
  proxy.all('pass');

  t.match(await faulty, { status: 500, body: { error: String } });
  const accepted = await Promise.all([first, ...others, ...later]);
  t.strictSame(
    accepted.map((answer) => answer?.status),
    accepted.map(() => 201),
  );
  t.match(await send(member, 'faulty', '[p2] talk 1'), { status: 201 }, 'the thread accepts other input');
  for (const thread of ['first', 't0', 'u9', 'faulty'])
    await eventually(`the run of ${thread} ends`, async () => {
      const { runs } = await readThread(member.client, thread);
      return (runs.length === 1 && runs[0]?.status === 'done') || undefined;
    });
  t.equal((await healthOf(member)).status, 200);
  await member.stop();
});
