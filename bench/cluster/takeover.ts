import { setTimeout as pause } from 'node:timers/promises';
import type { Postgres } from '../../test/cluster/postgres.ts';
import { NO_POSTGRES } from '../../test/cluster/programs.ts';
import type { Benchmark, Context } from '../benchmark.ts';
import { BenchError } from '../error.ts';
import { percentile } from '../rounds.ts';
import type { Aim, Measured } from '../row.ts';
import { ADMIN_TOKEN, askJson, type Server, stopAll } from '../servers.ts';
import { usageFrom } from '../usage.ts';
import { withPostgres } from './database.ts';
import { type MemberOptions, startMember, untilActive } from './member.ts';

/**
 * Members that end: from the kill of the active one until another executes all of its runs, and, behind a drain, from the
 * end of the last run to the first response of another.
 */

const TTL_MS = 2000;
const KILLS = 20;
const LINEAGES = 200;
const AT_ONCE = 16;
const MOST_TAKEOVER_MS = TTL_MS + 2000;
const DRAINS = 10;
const MOST_DRAIN_MS = 1000;
/** Polls take CPU time of the measured member. */
const POLL_MS = 20;
const GIVE_UP_MS = 60_000;

const until = async (what: string, reached: () => Promise<boolean>): Promise<void> => {
  const began = performance.now();
  while (!(await reached().catch(() => false))) {
    if (performance.now() - began > GIVE_UP_MS) throw new BenchError(`this did not happen: ${what}`);
    await pause(POLL_MS);
  }
};

const eachAtOnce = async <Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

const ask = (server: Server, path: string, method = 'GET'): Promise<Response> =>
  fetch(server.url + path, { method, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });

/** Counts actors: a rendering of the metrics is shared for a second. */
const activeRuns = async (server: Server): Promise<number> => {
  const answer = await ask(server, '/v1/system/actors?machine=run&state=running&limit=1');
  // The shape of the route's response.
  const { total } = (await answer.json()) as { total: number };
  return total;
};

/** Members answer health checks themselves, while other requests wait for an active member. */
const untilActiveAt = (server: Server): Promise<void> =>
  until('the member is active', async () => (await ask(server, '/health?role=active')).ok);

const startPair = async (start: (name: string) => Promise<Server>): Promise<[Server, Server]> => {
  const active = await start('a');
  await untilActive(active);
  return [active, await start('b')];
};

/** Starts a run in each of new threads, whose model does not answer. @returns the ids of the threads */
const openRuns = async (server: Server, count: number): Promise<string[]> => {
  const threads: string[] = [];
  const messages = [{ role: 'user', content: 'Go.' }];
  await eachAtOnce(Array.from({ length: count }), async () => {
    // The shape of the route's response.
    const { id } = (await askJson(server, '/v1/threads', { title: 'takeover' })) as { id: string };
    await askJson(server, `/v1/threads/${id}/messages`, { agentId: 'bench-silent', messages });
    threads.push(id);
  });
  await until(`${count} runs execute`, async () => (await activeRuns(server)) === count);
  return threads;
};

/** Milliseconds from a kill until all runs execute, and of CPU time that the other member spent. */
type Taken = { ms: number; cpuMs: number };

const measureKills = async (context: Context, postgres: Postgres): Promise<Taken[]> => {
  const url = postgres.url(postgres.createDatabase());
  const start = (name: string): Promise<Server> => startMember(context, url, { name, ttlMs: TTL_MS });
  const lineages = context.short ? 4 : LINEAGES;
  let [active, standby] = await startPair(start);
  const taken: Taken[] = [];
  try {
    for (let kill = 0; kill < (context.short ? 1 : KILLS); kill += 1) {
      const threads = await openRuns(active, lineages);
      await untilStandby(standby);
      const used = usageFrom(standby.process.pid);
      active.process.signal('SIGKILL');
      const next = standby;
      await untilActiveAt(next);
      await until('all runs execute', async () => (await activeRuns(next)) === lineages);
      const { elapsed: ms, processor: cpuMs } = used();
      taken.push({ ms, cpuMs });
      context.report(`takeover ${kill + 1}: ${Math.round(ms)} ms, ${Math.round(cpuMs)} ms of CPU`);
      await eachAtOnce(threads, (id) => askJson(next, `/v1/threads/${id}/interrupt`, {}));
      await until('no run executes', async () => (await activeRuns(next)) === 0);
      active = next;
      standby = await start(`c${kill}`);
    }
  } finally {
    await stopAll([active, standby]);
  }
  return taken;
};

/** A standby is healthy when it has found the active member. */
const untilStandby = (server: Server): Promise<void> =>
  until('there is a standby', async () => (await ask(server, '/health')).ok);

/** The agent's 200 tokens take 4 s. */
const PACED = JSON.stringify({ agentId: 'bench-paced', messages: [{ role: 'user', content: 'Go.' }] });

/** A member may have read the members last before it became the active one. */
const leaderOf = async (server: Server): Promise<string> => {
  let found: string | null = null;
  await until('the active member is known', async () => {
    // The shape of the route's response.
    const { leader } = (await askJson(server, '/v1/system/members')) as { leader: string | null };
    found = leader;
    return leader !== null;
  });
  return found ?? '';
};

const measureDrain = async (active: Server, standby: Server): Promise<number> => {
  const leader = await leaderOf(active);
  const run = await fetch(`${active.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: PACED,
  });
  const ended = run.text().then(() => performance.now());
  await until('a run executes', async () => (await activeRuns(active)) === 1);
  await ask(standby, `/v1/system/members/${leader}/drain`, 'POST');
  const answered = untilActiveAt(standby);
  const endedAt = await ended;
  await answered;
  await until('another member answers', async () => (await ask(standby, '/v1/threads')).ok);
  return performance.now() - endedAt;
};

const measureDrains = async (context: Context, postgres: Postgres): Promise<number[]> => {
  const url = postgres.url(postgres.createDatabase());
  const options: MemberOptions = { flags: ['--shutdown-timeout-ms', '60000'] };
  const start = (name: string): Promise<Server> => startMember(context, url, { ...options, name });
  let [active, standby] = await startPair(start);
  const took: number[] = [];
  try {
    for (let drain = 0; drain < (context.short ? 1 : DRAINS); drain += 1) {
      await untilStandby(standby);
      took.push(await measureDrain(active, standby));
      context.report(`drain ${drain + 1}: ${Math.round(took.at(-1) ?? 0)} ms`);
      await active.process.stop();
      active = standby;
      standby = await start(`c${drain}`);
    }
  } finally {
    await stopAll([active, standby]);
  }
  return took;
};

const row = (metric: string, unit: string, values: readonly number[], aim?: Aim): Measured => ({
  metric,
  unit,
  ...(aim && { aim }),
  rounds: [{ value: percentile(values, 50), p50: percentile(values, 50), p99: percentile(values, 99) }],
});

const measureAll = async (context: Context, postgres: Postgres): Promise<Measured[]> => {
  const taken = await measureKills(context, postgres);
  const drained = await measureDrains(context, postgres);
  const metric = `takeover of ${LINEAGES} busy lineages, a lease of ${TTL_MS} ms`;
  return [
    row(
      metric,
      'ms',
      taken.map(({ ms }) => ms),
      { of: 'p99', most: MOST_TAKEOVER_MS },
    ),
    row(
      `${metric}: the member that takes over`,
      'ms of CPU',
      taken.map(({ cpuMs }) => cpuMs),
    ),
    row('drain: from the end of the last run to the response of another', 'ms', drained, {
      of: 'p99',
      most: MOST_DRAIN_MS,
    }),
  ];
};

export const takeover: Benchmark = {
  name: 'takeover',
  title: 'takeover: members of a cluster that are killed or drained; p99 of all of them',
  rounds: 1,
  async run(context) {
    if (NO_POSTGRES === false) return withPostgres((postgres) => measureAll(context, postgres));
    context.note(NO_POSTGRES);
    return [];
  },
};
