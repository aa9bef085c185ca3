import type { Test } from 'tap';
import { monotonicFactory } from 'ulid';
import {
  type CommitNotice,
  type Database,
  type DatabaseOptions,
  openDatabase,
} from '../../src/postgres/index.ts';
import type { ShippedBatch, ShippedRow } from '../../src/store/engine/sink.ts';

/** Batches of tests of the fence, and the databases that take them. */

export const THREAD_KIND = 1;
export const MESSAGE_KIND = 3;
export const LINEAGE = 5n;

export const createRow = (given: Partial<ShippedRow> = {}): ShippedRow => ({
  kind: THREAD_KIND,
  key: '["t"]',
  lineage: LINEAGE,
  scope: 'default',
  a: null,
  b: null,
  c: null,
  d: null,
  at: 1,
  at2: null,
  value: '{}',
  ...given,
});

/** A batch of one lineage. */
export const createBatch = (
  rows: readonly ShippedRow[],
  given: Partial<ShippedBatch> = {},
): ShippedBatch => ({
  lineage: rows[0]?.lineage ?? LINEAGE,
  owners: [rows[0]?.lineage ?? LINEAGE],
  births: [],
  releases: [],
  gone: [],
  rows,
  ...given,
});

/** A batch that sets the value of one row. */
export const put = (value: unknown, given: Partial<ShippedRow> = {}): ShippedBatch =>
  createBatch([createRow({ value: JSON.stringify(value), ...given })]);

const ulid = monotonicFactory();

export const LEASE_TTL_MS = 10_000;

export type Opened = Database & { notices: CommitNotice[]; warnings: string[] };

export const openFor = async (
  t: Test,
  url: string,
  given: Partial<DatabaseOptions> = {},
): Promise<Opened> => {
  const notices: CommitNotice[] = [];
  const warnings: string[] = [];
  const database = await openDatabase({
    url,
    schema: 'troupe',
    pooled: false,
    poolSize: 2,
    leaseTtlMs: LEASE_TTL_MS,
    durability: 'power',
    now: () => 1,
    newId: () => ulid(),
    warn: (message) => warnings.push(message),
    observe: (notice) => notices.push(notice),
    ...given,
  });
  t.teardown(() => database.close());
  return { ...database, notices, warnings };
};

/** A member with a name and the lineage that most tests write. */
export const joinWith = async (database: Database, name: string, lineages: readonly bigint[] = [LINEAGE]) => {
  const member = await database.join({ name, url: `http://${name}`, program: '0.2.0' });
  await member.claim(lineages);
  return member;
};
