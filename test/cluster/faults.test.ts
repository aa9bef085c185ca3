import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Members } from '../../src/schema/members.ts';
import { textOf } from '../../src/schema/message.ts';
import { startGate } from '../crash/gate.ts';
import { ADMIN } from '../crash/process.ts';
import { readThread } from '../crash/records.ts';
import { socketIn } from './pgbouncer.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { faketimeLibrary, NO_FAKETIME, NO_POSTGRES } from './programs.ts';
import { startProxy } from './proxy.ts';
import { becomes, createMembers, eventually, healthOf, type Member } from './services.ts';
import { mountSmallDisk, NO_SMALL_DISK } from './small-disk.ts';

/** Services of which one is cut off, paused, or has another clock (cluster.md 19.3, checks 23, 26 and 27). */

t.setTimeout(600_000);

type Given = { url?: string; gate?: string; env?: Record<string, string> };

const startPair = async (t: Test, postgres: Postgres, database: string, ofA: Given, ofB: Given = {}) => {
  const url = postgres.url(database);
  const [a] = await createMembers(t, ['a'], { url, ...ofA });
  const [b] = await createMembers(t, ['b'], { url, ...ofB });
  if (!a || !b) throw new Error('two members were expected');
  await a.start();
  await becomes(a, 'active');
  await b.start();
  await becomes(b, 'standby');
  return { a, b };
};

const send = ({ client }: Member, thread: string, text: string) =>
  client.ask('POST', `/v1/threads/${thread}/mailbox`, { payload: { text } });

const endsIn = (member: Member, thread: string, runs = 1) =>
  eventually(`${runs} runs of ${thread} end`, async () => {
    const before = await readThread(member.client, thread);
    const areDone = before.runs.length === runs && before.runs.every(({ status }) => status === 'done');
    return areDone ? readThread(member.client, thread) : undefined;
  });

const idOf = async ({ client }: Member): Promise<string | undefined> => {
  const { members } = await client.read('/v1/system/members', Members);
  return members.find(({ self }) => self)?.id;
};

t.test('a member that alone loses the database (check 23)', { skip: NO_POSTGRES }, async (t) => {
  const gate = await startGate(t);
  const postgres = await startPostgres(t);
  const database = postgres.createDatabase();
  const proxy = await startProxy(t, { to: { path: socketIn(postgres.folder, postgres.port) } });
  const ofA = { url: postgres.url(database, proxy.port), gate: gate.url };
  const { a, b } = await startPair(t, postgres, database, ofA, { gate: gate.url });
  const first = await idOf(a);
  t.equal((await send(a, 'held', '[h1] hold 2'))?.status, 201);
  await gate.until(1);
  const stream = a.client.follow({
    method: 'GET',
    path: '/v1/threads/held/events/stream',
    frame: () => true,
  });

  proxy.all('cut');
  t.match(await stream, { status: 200, whole: false }, 'streams of the member are cut off');
  const refused = await send(a, 'lost', '[l1] talk 1');
  t.equal(refused?.status, 503);
  await becomes(b, 'active');
  t.equal((await send(b, 'after', '[a1] talk 1'))?.status, 201);
  gate.open();
  const { runs, messages } = await endsIn(b, 'held');
  t.equal(runs.length, 1);
  t.strictSame(
    messages.map(({ content }) => textOf(content)),
    ['[h1] hold 2', 'answer to h1 and so on'],
  );

  proxy.all('pass');
  await becomes(a, 'standby');
  t.not(await idOf(a), first, 'the member has joined again');
  t.equal((await endsIn(a, 'after')).runs.length, 1, 'the member forwards to the other one');
  t.equal((await readThread(a.client, 'lost')).runs.length, 0, 'a refused input is not stored');
});

t.test(
  'a member that stands still for longer than its lease (check 27)',
  { skip: NO_POSTGRES },
  async (t) => {
    const postgres = await startPostgres(t);
    const { a, b } = await startPair(t, postgres, postgres.createDatabase(), {});
    const first = await idOf(a);
    t.equal((await send(a, 'thread', '[i1] talk 1'))?.status, 201);
    await endsIn(a, 'thread');
    a.suspend();
    await becomes(b, 'active');
    t.equal((await send(b, 'thread', '[i2] talk 1'))?.status, 201);
    const { messages } = await endsIn(b, 'thread', 2);
    // It is read first when the member continues.
    const waiting = a.client.ask('GET', '/v1/threads/thread/messages', undefined, ADMIN);
    a.resume();
    const answer = await waiting;
    if (answer?.status === 200) t.match(answer.body, { messages: messages.map(({ id }) => ({ id })) });
    else t.ok([503, undefined].includes(answer?.status), `${answer?.status}`);
    await becomes(a, 'standby');
    t.not(await idOf(a), first, 'the member has joined again');
    t.strictSame((await readThread(a.client, 'thread')).messages, messages);
  },
);

t.test('a copy that has no space (check 28)', { skip: NO_POSTGRES || NO_SMALL_DISK }, async (t) => {
  const postgres = await startPostgres(t);
  const disk = mountSmallDisk(t);
  const env = { SERVICE_COPY_DIR: join(disk.folder, 'copy') };
  const { a, b } = await startPair(t, postgres, postgres.createDatabase(), { env });
  const first = await idOf(a);
  t.equal((await send(a, 'before', '[i1] talk 1'))?.status, 201);
  await endsIn(a, 'before');
  disk.fill();
  // The database takes it, the copy cannot.
  await send(a, 'full', `[i2] talk 1 ${randomBytes(1_000_000).toString('base64')}`);
  await becomes(b, 'active');
  t.equal((await endsIn(b, 'full')).runs.length, 1, 'the input is in the database, once');
  t.equal((await endsIn(b, 'before')).runs.length, 1);
  await becomes(a, 'standby');
  t.not(await idOf(a), first);
  const metrics = await (await fetch(`${a.url}/metrics`, { headers: ADMIN })).text();
  t.match(metrics, /service_cluster_fenced_total\{why="copy"\} 1\n/);
  disk.free();
});

/** The clock of a member by this offset. */
const clockAt = (offset: string): Given => ({
  env: {
    LD_PRELOAD: faketimeLibrary ?? '',
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DISABLE_SHM: '1',
  },
});

t.test('members whose clocks differ by two hours (check 26)', { skip: NO_FAKETIME }, async (t) => {
  const postgres = await startPostgres(t);
  const { a, b } = await startPair(
    t,
    postgres,
    postgres.createDatabase(),
    clockAt('+3600'),
    clockAt('-3600'),
  );
  t.equal((await send(a, 'thread', '[i1] talk 1'))?.status, 201);
  const [run] = (await endsIn(a, 'thread')).runs;
  const offset = Number(run?.created_at) - Date.now() / 1000;
  t.equal(Math.round(offset / 3600), 1, 'the clock of the first member is an hour ahead');
  await a.kill();
  await becomes(b, 'active');
  t.equal((await send(b, 'thread', '[i2] talk 1'))?.status, 201);
  const { runs, messages } = await endsIn(b, 'thread', 2);
  t.strictSame(
    messages.map(({ content, seq }) => [seq, textOf(content)]),
    [
      [1, '[i1] talk 1'],
      [2, 'answer to i1'],
      [3, '[i2] talk 1'],
      [4, 'answer to i2'],
    ],
  );
  t.equal(runs.length, 2);
  t.equal(runs[0]?.run_id, run?.run_id, 'runs keep their order, oldest first');
  t.equal((await healthOf(b)).member, 'active');
});
