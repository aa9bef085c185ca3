import { type Random, randomFrom } from '../../src/load-generator/random.ts';
import { openDatabase } from '../../src/postgres/index.ts';
import { below } from '../crash/random.ts';
import { createHistory, type History, type Stored, type StoredRow } from './history.ts';
import { type MemberProcess, startMember } from './member.ts';
import { type Pgbouncer, socketIn, startPgbouncer } from './pgbouncer.ts';
import type { Postgres } from './postgres.ts';
import { type PostgresProxy, startProxy } from './proxy.ts';

/** Members in separate processes that share a database, each behind its own proxy, with the history of all. */

export type Via = 'direct' | 'pgbouncer';

export type Place = {
  name: string;
  proxy: PostgresProxy;
  /** Undefined between a kill and the next start. */
  member: MemberProcess | undefined;
};

export type Cluster = {
  postgres: Postgres;
  pgbouncer: Pgbouncer | undefined;
  database: string;
  ttlMs: number;
  places: readonly Place[];
  history: History;
  random: Random;
  start(place: Place): void;
  kill(place: Place): Promise<void>;
  /** Ends all members and compares the history with the database. @returns the violations */
  finish(): Promise<string[]>;
};

export type ClusterOptions = {
  via: Via;
  seed: number;
  ttlMs: number;
  members: number;
  /** Time between two groups of a member. */
  pauseMs: number;
  /** Replaces parts of the functions of the database before the first write. */
  mutate?: (database: string) => void;
};

/** The part of a test that a cluster needs. */
type Scope = { teardown(end: () => unknown): void };

const LINEAGES = Array.from({ length: 9 }, (_, index) => `${index + 1}`);
const FOREIGN = '1000';
const NAMES = ['a', 'b', 'c', 'd', 'e'];

export const startCluster = async (
  t: Scope,
  postgres: Postgres,
  { via, seed, ttlMs, members, pauseMs, mutate }: ClusterOptions,
): Promise<Cluster> => {
  const random = randomFrom(seed);
  const database = postgres.createDatabase();
  const pgbouncer = via === 'pgbouncer' ? await startPgbouncer(t, postgres) : undefined;
  const to = { path: pgbouncer?.socket ?? socketIn(postgres.folder, postgres.port) };
  const history = createHistory();
  const killed = new Set<string>();
  await prepare(postgres.url(database), ttlMs);
  mutate?.(database);
  const places: Place[] = [];
  for (const name of NAMES.slice(0, members))
    places.push({ name, proxy: await startProxy(t, { to }), member: undefined });
  let starts = 0;

  const cluster: Cluster = {
    postgres,
    pgbouncer,
    database,
    ttlMs,
    places,
    history,
    random,
    start(place) {
      starts += 1;
      const options = {
        name: place.name,
        url: postgres.url(database, place.proxy.port),
        direct: postgres.url(database),
        pooled: pgbouncer !== undefined,
        ttlMs,
        lineages: LINEAGES,
        most: Math.ceil(LINEAGES.length / members) + 1,
        foreign: FOREIGN,
        born: starts * 1_000_000,
        seed: below(random, 2 ** 31),
        pauseMs,
      };
      place.member = startMember(t, options, history.add);
    },
    async kill(place) {
      const { member } = place;
      place.member = undefined;
      await member?.kill();
      for (const id of member?.ids ?? []) killed.add(id);
    },
    async finish() {
      for (const { member, proxy } of places) {
        proxy.all('pass');
        await proxy.deliver();
        member?.resume();
      }
      await Promise.all(places.map(({ member }) => member?.finish()));
      return history.check(readStored(postgres, database), killed);
    },
  };
  for (const place of places) cluster.start(place);
  return cluster;
};

/** Creates the schema, so that no two members do. */
const prepare = async (url: string, ttlMs: number): Promise<void> => {
  const database = await openDatabase({
    url,
    schema: 'troupe',
    pooled: false,
    poolSize: 2,
    leaseTtlMs: ttlMs,
    durability: 'power',
    now: Date.now,
    newId: () => 'foreign',
    warn: () => undefined,
    observe: () => undefined,
  });
  database.close();
};

const readStored = (postgres: Postgres, database: string): Stored => {
  const rows = postgres.sql(
    database,
    `SELECT json_build_array(lineage::text, kind, value::json->'n', value::json->'token',
      value::json->'sealed')
      FROM troupe.row WHERE kind IN (4, 6, 7, 9)`,
  );
  const chains = new Map<string, number[]>();
  const numbers = postgres.sql(database, 'SELECT member, no FROM troupe.commit ORDER BY member, no');
  for (const line of linesOf(numbers)) {
    const [member = '', number] = line.split('|');
    const chain = chains.get(member) ?? [];
    chain.push(Number(number));
    chains.set(member, chain);
  }
  return { rows: linesOf(rows).map(rowFrom), chains };
};

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);

const WHAT: Record<number, StoredRow['what']> = { 4: 'number', 6: 'number', 7: 'stray', 9: 'slot' };

const rowFrom = (text: string): StoredRow => {
  const [lineage, kind, n, token, sealed]: [string, number, number, string, boolean | null] =
    JSON.parse(text);
  return { lineage, what: WHAT[kind] ?? 'stray', n, token, isSealed: sealed === true };
};
