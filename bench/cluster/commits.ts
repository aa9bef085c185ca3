import { Client } from 'pg';
import { ulid } from 'ulid';
import { type Membership, openDatabase } from '../../src/postgres/index.ts';
import type { ShippedBatch, ShippedRow } from '../../src/store/engine/sink.ts';
import { type Mutation, mutate } from '../../test/cluster/mutations.ts';
import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import { BenchError } from '../error.ts';
import type { Measured } from '../row.ts';
import { cpuOf } from './database.ts';

/**
 * CPU time of PostgreSQL, with all its processes, for the commits of a member, next to the same rows without the fence,
 * and before and behind many commits with an open snapshot.
 */

const GROUPS: [runs: number, most: number][] = [
  [1, 1.6],
  [16, 1.3],
  [64, 1.15],
];

const PARTS = 4;
const RUNS_A_PART = 800;
const SNAPSHOT_COMMITS = 50_000;
const COMPARED_COMMITS = 4_000;
const MOST_SLOWDOWN = 1.2;

const VALUE = 'x'.repeat(480);

const rowOf = (
  kind: number,
  key: unknown[],
  lineage: bigint,
  given: Partial<ShippedRow> = {},
): ShippedRow => ({
  kind,
  key: JSON.stringify(key),
  lineage,
  scope: 'default',
  a: null,
  b: null,
  c: null,
  d: null,
  at: null,
  at2: null,
  value: JSON.stringify({ text: VALUE }),
  ...given,
});

let lineages = 0n;

/** Returns the rows that a run of a new thread writes. */
export const createRun = (): ShippedBatch => {
  lineages += 1n;
  const lineage = lineages;
  const [thread, run, now] = [ulid(), ulid(), Date.now()];
  const each = (kind: number, count: number): ShippedRow[] =>
    Array.from({ length: count }, (_, seq) => rowOf(kind, ['default', thread, seq], lineage, { at: now }));
  return {
    lineage,
    owners: [lineage],
    births: [lineage],
    releases: [],
    gone: [],
    rows: [
      rowOf(1, ['default', thread], lineage, { at: now }),
      rowOf(2, ['default', run], lineage, { a: 'done', b: thread, c: 'agent', at: now, at2: now }),
      ...each(3, 3),
      ...each(4, 3),
      rowOf(5, ['default', thread, run], lineage, { at: now }),
      rowOf(9, ['default', thread], lineage),
    ],
  };
};

const join = async (postgres: Postgres, name: string): Promise<{ member: Membership; close(): void }> => {
  const database = await openDatabase({
    url: postgres.url(name),
    schema: 'troupe',
    pooled: false,
    poolSize: 2,
    leaseTtlMs: 10_000,
    durability: 'power',
    now: Date.now,
    newId: ulid,
    warn: () => undefined,
    observe: () => undefined,
  });
  const member = await database.join({ name, url: 'http://localhost', program: 'bench' });
  return { member, close: database.close };
};

const commit = async ({ sink }: Membership, batches: readonly ShippedBatch[]): Promise<void> => {
  for (const outcome of await sink.ship(batches))
    if (outcome.result !== 'applied')
      throw new BenchError(`a commit is ${outcome.result}: ${outcome.error.message}`);
};

const createSide = async (postgres: Postgres, mutation?: Mutation) => {
  const name = postgres.createDatabase();
  const { member, close } = await join(postgres, name);
  if (mutation) mutate(postgres, name, mutation);
  return { member, close };
};

const measureCommits = async (
  postgres: Postgres,
  { runs, most, short }: { runs: number; most: number; short: boolean },
): Promise<Measured> => {
  const sides = [await createSide(postgres), await createSide(postgres, 'rows only')];
  const commits = short ? 2 : Math.ceil(RUNS_A_PART / runs);
  const parts = short ? 1 : PARTS;
  const spent = [0, 0];
  // The first part, which is not counted, fills caches and plans.
  for (let part = short ? 1 : 0; part <= parts; part += 1)
    for (const [side, { member }] of sides.entries()) {
      const groups = Array.from({ length: commits }, () => Array.from({ length: runs }, createRun));
      const cpu = await cpuOf(postgres, async () => {
        for (const group of groups) await commit(member, group);
      });
      if (part > 0) spent[side] = (spent[side] ?? 0) + cpu / (parts * commits * runs);
    }
  for (const { close } of sides) close();
  const [value = 0, baseline = 0] = spent;
  return {
    metric: `PostgreSQL a run, commits of ${runs} ${runs === 1 ? 'run' : 'runs'}`,
    unit: 'µs of CPU',
    baseline: 'the same without fence, chain and owners',
    aim: { of: 'ratio', most },
    rounds: [{ value, baseline }],
  };
};

const measureSnapshot = async (postgres: Postgres, short: boolean): Promise<Measured> => {
  const name = postgres.createDatabase();
  const { member, close } = await join(postgres, name);
  const dump = new Client({ connectionString: postgres.url(name) });
  await dump.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await dump.query('SELECT count(*) FROM troupe.member');
  const batch: ShippedBatch = { lineage: 1n, owners: [], births: [], releases: [], gone: [], rows: [] };
  const repeat = async (count: number): Promise<void> => {
    for (let done = 0; done < (short ? 20 : count); done += 1) await commit(member, [batch]);
  };
  await repeat(500);
  const baseline = await cpuOf(postgres, () => repeat(COMPARED_COMMITS));
  await repeat(SNAPSHOT_COMMITS);
  const value = await cpuOf(postgres, () => repeat(COMPARED_COMMITS));
  await dump.end();
  close();
  const commits = short ? 20 : COMPARED_COMMITS;
  return {
    metric: `PostgreSQL a commit, behind ${SNAPSHOT_COMMITS.toLocaleString('en')} commits with an open snapshot`,
    unit: 'µs of CPU',
    baseline: 'before them',
    aim: { of: 'ratio', most: MOST_SLOWDOWN },
    rounds: [{ value: value / commits, baseline: baseline / commits }],
  };
};

export const measureAllCommits = async (
  { short, report }: Context,
  postgres: Postgres,
): Promise<Measured[]> => {
  const rows: Measured[] = [];
  for (const [runs, most] of GROUPS) {
    report(`commits of ${runs}`);
    rows.push(await measureCommits(postgres, { runs, most, short }));
  }
  report('commits with an open snapshot');
  rows.push(await measureSnapshot(postgres, short));
  return rows;
};
