import { setTimeout as pause } from 'node:timers/promises';
import { below, pick, pickByWeight } from '../crash/random.ts';
import type { Cluster, Place } from './cluster.ts';
import type { Postgres } from './postgres.ts';
import type { Mode } from './proxy.ts';

/** Faults of processes, connections, the pooler and the server, in an order that a seed determines. */

type Nemesis = (cluster: Cluster) => Promise<void>;

/** Names of nemeses, with the number of times that each happened. */
export type Happened = Record<string, number>;

const somewhere = ({ random, places }: Cluster): Place => pick(random, places);

const between = ({ random }: Cluster, least: number, most: number): number =>
  Math.trunc(least + random() * (most - least));

const stop =
  (least: number, most: number): Nemesis =>
  async (cluster) => {
    const { member } = somewhere(cluster);
    member?.stop();
    await pause(between(cluster, cluster.ttlMs * least, cluster.ttlMs * most));
    member?.resume();
  };

const kill: Nemesis = async (cluster) => {
  const place = somewhere(cluster);
  await cluster.kill(place);
  await pause(between(cluster, 0, cluster.ttlMs * 1.5));
  cluster.start(place);
};

const connection =
  (mode: Mode, least: number, most: number): Nemesis =>
  async (cluster) => {
    const { proxy } = somewhere(cluster);
    proxy.all(mode);
    await pause(between(cluster, cluster.ttlMs * least, cluster.ttlMs * most));
    proxy.all('pass');
  };

/** A commit reaches the server when its member has long sent it again on another connection. */
const late: Nemesis = async (cluster) => {
  const { proxy } = somewhere(cluster);
  if (proxy.marked('hold') === 0) return;
  await pause(between(cluster, cluster.ttlMs * 0.6, cluster.ttlMs * 2.5));
  await proxy.deliver();
};

/** The response of the next commit is lost, and its connection with it. */
const swallow: Nemesis = async (cluster) => {
  const { proxy } = somewhere(cluster);
  proxy.marked('eat');
  await pause(between(cluster, 50, cluster.ttlMs));
  proxy.marked('cut');
};

const restart: Nemesis = ({ postgres }) => postgres.restart();

/** Stops a backend of the database, in the middle of whatever it executes. */
const backend: Nemesis = async (cluster) => {
  const { postgres, database, random } = cluster;
  const pids = backendsNow(postgres, database);
  if (pids.length === 0) return;
  const pid = pick(random, pids);
  signal(pid, 'SIGSTOP');
  await pause(between(cluster, 100, cluster.ttlMs * 3));
  signal(pid, 'SIGCONT');
};

/** None while the server restarts. */
const backendsNow = (postgres: Postgres, database: string): number[] => {
  try {
    return postgres.backends(database);
  } catch {
    return [];
  }
};

const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
  try {
    process.kill(pid, name);
  } catch {
    // The backend has ended.
  }
};

const pooler: Nemesis = async ({ pgbouncer }) => pgbouncer?.restart();

/** Kills and stops of members, which are counted. */
const ENDS: [weight: number, [name: string, Nemesis]][] = [
  [4, ['kill', kill]],
  [4, ['stop past the lease', stop(1.2, 2.5)]],
  [2, ['stop within the lease', stop(0.1, 0.5)]],
];

const OTHERS: [weight: number, [name: string, Nemesis]][] = [
  [2, ['cut', connection('cut', 0.02, 0.3)]],
  [1, ['cut past the lease', connection('cut', 1.2, 1.8)]],
  [2, ['eat', connection('eat', 0.2, 1)]],
  [2, ['hold', connection('hold', 0.2, 1.5)]],
  [2, ['slow', connection('slow', 0.2, 1)]],
  [3, ['late', late]],
  [2, ['swallow', swallow]],
  [2, ['restart of the server', restart]],
  [2, ['stopped backend', backend]],
  [1, ['restart of the pooler', pooler]],
];

/** Writes that are acknowledged between two nemeses, which shows that the members recover. */
const PROGRESS = 5;
const PROGRESS_MS = 180_000;

/** @throws Error when too few writes are acknowledged for three minutes */
export const untilProgress = async ({ history }: Cluster, more = PROGRESS): Promise<void> => {
  const goal = history.acknowledged() + more;
  const until = performance.now() + PROGRESS_MS;
  while (history.acknowledged() < goal) {
    if (performance.now() > until) throw new Error(`no progress: ${JSON.stringify(history.counts())}`);
    await pause(20);
  }
};

/** Kills and stops members so many times, each with another nemesis at the same time, all of which occur in turn. */
export const runNemeses = async (cluster: Cluster, ends: number): Promise<Happened> => {
  const happened: Happened = {};
  const run = ([name, nemesis]: [string, Nemesis]): Promise<void> => {
    happened[name] = (happened[name] ?? 0) + 1;
    return nemesis(cluster);
  };
  const first = below(cluster.random, OTHERS.length);
  await untilProgress(cluster);
  for (let count = 0; count < ends; count += 1) {
    const [, scheduled] = OTHERS[(first + count) % OTHERS.length] ?? [];
    const others = [scheduled ?? pickByWeight(cluster.random, OTHERS)];
    if (cluster.random() < 0.3) others.push(pickByWeight(cluster.random, OTHERS));
    await Promise.all([pickByWeight(cluster.random, ENDS), ...others].map(run));
    await untilProgress(cluster);
  }
  return happened;
};
