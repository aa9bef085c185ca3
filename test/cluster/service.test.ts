import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { Members } from '../../src/schema/members.ts';
import { unhooked } from '../child.ts';
import { startGate } from '../crash/gate.ts';
import { ADMIN } from '../crash/process.ts';
import { eventsOf, readThread } from '../crash/records.ts';
import { MAIN } from '../e2e/built.ts';
import { socketIn } from './pgbouncer.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { startProxy } from './proxy.ts';
import { becomes, createMembers, eventually, healthOf, type Member, TTL_MS } from './services.ts';

/** Active and standby, checks 16 to 22 of cluster.md: built services on a real database. */

t.setTimeout(600_000);

const startPair = async (t: Test, gate?: string): Promise<{ active: Member; standby: Member }> => {
  const postgres = await startPostgres(t);
  const url = postgres.url(postgres.createDatabase());
  const [active, standby] = await createMembers(t, ['a', 'b'], {
    url,
    ...(gate !== undefined && { gate }),
  });
  if (!active || !standby) throw new Error('two members were expected');
  await active.start();
  await becomes(active, 'active');
  await standby.start();
  await becomes(standby, 'standby');
  return { active, standby };
};

const run = (text: string, thread?: string) => ({
  agentId: 'default',
  ...(thread !== undefined && { threadId: thread }),
  messages: [{ role: 'user', content: text }],
});

const framesOf = async ({ client }: Member, body: object): Promise<Record<string, unknown>[]> => {
  const frames: Record<string, unknown>[] = [];
  const { status, whole } = await client.follow({
    path: '/v1/runs',
    body,
    frame: ({ data }) => {
      frames.push(data);
      return true;
    },
  });
  if (status !== 200 || !whole) throw new Error(`the stream ended with ${status}`);
  return frames;
};

const send = async ({ client }: Member, thread: string, text: string): Promise<void> => {
  const answer = await client.ask('POST', `/v1/threads/${thread}/mailbox`, { payload: { text } });
  if (answer?.status !== 201) throw new Error(`${answer?.status} ${answer?.text}`);
};

/** The types of its events in their order, without those of single deltas. */
const typesOf = (frames: readonly Record<string, unknown>[]): string[] =>
  frames.map(({ event_type: type }) => String(type)).filter((type, index, all) => type !== all[index - 1]);

const endsIn = async (member: Member, thread: string) => {
  await eventually(`the runs of ${thread} end`, async () => {
    const { runs } = await readThread(member.client, thread);
    return (runs.length > 0 && runs.every(({ status }) => status === 'done')) || undefined;
  });
  return readThread(member.client, thread);
};

t.test('two members on an empty database are one service', { skip: NO_POSTGRES }, async (t) => {
  const { active, standby } = await startPair(t);
  t.strictSame(await healthOf(active, '?role=active'), { status: 200, member: 'active', database: 'ok' });
  t.strictSame(await healthOf(standby, '?role=active'), { status: 503, member: 'standby', database: 'ok' });

  await t.test('a run streams through the standby as through the active member', async (t) => {
    const direct = await framesOf(active, run('[i1] note 3', 'direct'));
    const forwarded = await framesOf(standby, run('[i1] note 3', 'forwarded'));
    t.strictSame(typesOf(forwarded), typesOf(direct));
    t.strictSame(
      forwarded.map((frame) => Object.keys(frame)),
      direct.map((frame) => Object.keys(frame)),
    );
    for (const member of [active, standby]) {
      const response = await fetch(`${member.url}/v1/threads/forwarded`, { headers: ADMIN });
      t.match([response.status, response.headers.get('x-troupe-member')], [200, 'a']);
    }
  });

  await t.test('each lists both', async (t) => {
    for (const { client, name } of [active, standby]) {
      const body = await eventually('the load of the active member is read', async () => {
        const list = await client.read('/v1/system/members', Members);
        return list.members[0]?.lineages === 2 ? list : undefined;
      });
      t.match(
        body,
        {
          mode: 'postgres',
          database: { status: 'ok', schema: 'troupe', pooled: false, lease_ttl_ms: TTL_MS },
          members: [
            { name: 'a', state: 'active', self: true, url: active.url },
            { name: 'b', state: 'standby', self: false, url: standby.url },
          ],
        },
        name,
      );
      t.equal(body.leader, body.members[0]?.id);
    }
  });

  await t.test('metrics are those of the member that is asked', async (t) => {
    for (const [member, state] of [
      [active, 'active'],
      [standby, 'standby'],
    ] as const) {
      const text = await (await fetch(`${member.url}/metrics`, { headers: ADMIN })).text();
      t.match(text, new RegExp(`service_cluster_state\\{state="${state}"\\} 1\n`));
    }
  });

  await t.test('the standby takes over at once when the other stops', async (t) => {
    await active.stop();
    await becomes(standby, 'active');
    const { messages } = await readThread(standby.client, 'forwarded');
    t.equal(messages.filter(({ role }) => role === 'user').length, 1);
    t.equal((await framesOf(standby, run('[i2] talk 2', 'forwarded'))).length > 0, true);
    await active.start();
    await becomes(active, 'standby');
    await standby.stop();
    await becomes(active, 'active');
  });
});

const Ended = z.object({ run_id: z.string() });

t.test('a takeover loses and repeats nothing', { skip: NO_POSTGRES }, async (t) => {
  const gate = await startGate(t);
  const { active, standby } = await startPair(t, gate.url);

  await send(standby, 'waits', '[w1] approve 2');
  await eventually('the approval is asked for', async () => {
    const { runs } = await readThread(active.client, 'waits');
    return runs.some(({ status }) => status === 'waiting') || undefined;
  });
  await send(active, 'tools', '[p1] pair 1');
  const tools = await endsIn(active, 'tools');
  await send(active, 'held', '[h1] hold 2');
  await gate.until(1);
  await active.kill();
  // All members write to one file.
  const before = active.executed();
  await becomes(standby, 'active');
  gate.open();

  await t.test('the run of the killed member ends on the other, once', async (t) => {
    const { runs, messages, events } = await endsIn(standby, 'held');
    t.equal(runs.length, 1);
    t.equal(messages.filter(({ role }) => role === 'assistant').length, 1);
    t.equal(events.filter(({ event_kind: kind }) => kind === 'RunFinished').length, 1);
    const [first] = events;
    if (!first) return t.fail('no events');
    t.strictSame((await eventsOf(standby.client, '/v1/threads/held')).length, events.length);
  });

  await t.test('ended work stays as it was', async (t) => {
    const kept = await readThread(standby.client, 'tools');
    t.strictSame(kept.messages, tools.messages);
    t.strictSame(kept.events, tools.events);
    t.strictSame(standby.executed(), before, 'no tool was executed again');
    t.equal(before.length, 2);
  });

  await t.test('a decision that is waited for continues its run', async (t) => {
    const { runs } = await readThread(standby.client, 'waits');
    const waiting = runs.find(({ status }) => status === 'waiting');
    const { run_id } = Ended.parse(waiting);
    const answer = await standby.client.ask('POST', `/v1/runs/${run_id}/decision`, {
      toolCallId: 'w1-0',
      action: 'resume',
    });
    t.equal(answer?.status, 202, answer?.text ?? 'cut off');
    const ended = await endsIn(standby, 'waits');
    t.match(ended.runs[0], { termination_reason: { type: 'natural_end' } });
    t.equal(standby.executed().length, before.length + 1);
  });

  await t.test('all is there after both were killed', async (t) => {
    await standby.kill();
    await active.start();
    await becomes(active, 'active');
    t.strictSame((await readThread(active.client, 'tools')).messages, tools.messages);
    await send(active, 'tools', '[p2] talk 1');
    t.equal((await endsIn(active, 'tools')).runs.length, 2);
    await active.stop();
  });
});

t.test(
  'a member that is cut off from the database continues when it is back',
  { skip: NO_POSTGRES },
  async (t) => {
    const gate = await startGate(t);
    const postgres = await startPostgres(t);
    const proxy = await startProxy(t, { to: { path: socketIn(postgres.folder, postgres.port) } });
    const [member] = await createMembers(t, ['a'], {
      url: postgres.url(postgres.createDatabase(), proxy.port),
      gate: gate.url,
    });
    if (!member) throw new Error('a member was expected');
    await member.start();
    await becomes(member, 'active');
    await send(member, 'held', '[h1] hold 2');
    await gate.until(1);

    proxy.all('cut');
    const health = await eventually('the member is isolated', async () => {
      const found = await healthOf(member);
      return found.member === 'isolated' ? found : undefined;
    });
    t.strictSame(health, { status: 503, member: 'isolated', database: 'error' });
    t.equal((await fetch(`${member.url}/health/live`)).status, 200);
    t.equal((await fetch(`${member.url}/metrics`, { headers: ADMIN })).status, 200);
    const refused = await fetch(`${member.url}/v1/threads/held`, { headers: ADMIN });
    t.match([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);

    proxy.all('pass');
    await becomes(member, 'active');
    gate.open();
    const { runs, messages } = await endsIn(member, 'held');
    t.equal(runs.length, 1);
    t.strictSame(
      messages.map(({ role }) => role),
      ['user', 'assistant'],
    );
    t.equal(gate.most(), 1, 'the inference was not repeated');
    await member.stop();
  },
);

t.test('a start that the database refuses ends with one line without a secret', async (t) => {
  const started = spawnSync(...unhooked(process.execPath, [MAIN, 'serve', '--http-addr', '127.0.0.1:0']), {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
      SERVICE_SECRETS_KEY: 'a key of this test',
      SERVICE_STORAGE_DIR: t.testdir(),
      SERVICE_DATABASE_URL: 'postgresql://troupe:geheim@nohost.invalid/troupe',
    },
  });
  t.equal(started.status, 1);
  t.equal(
    started.stderr
      .split('\n')
      .filter((line) => !line.startsWith('{'))
      .join('\n'),
    "troupe: cannot use the database 'troupe' at nohost.invalid:5432: the host 'nohost.invalid' is unknown\n",
  );
});
