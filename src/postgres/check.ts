import { createScratchFolder } from '../processes/scratch-folder.ts';
import { fillFolder } from '../store/folder-import.ts';
import { examine, type Finding } from '../store/index.ts';
import type { Note } from '../store/repair/doctor-tables.ts';
import { examineRows } from '../store/row-check.ts';
import { readDatabaseUrl } from './connection-options.ts';
import { ConnectionLost, ServerError } from './errors.ts';
import { quotedSchema } from './identifier.ts';
import { refusalBy } from './refusals.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import { openSource, type SourceOptions } from './source.ts';

/**
 * Checks a schema as `troupe doctor` checks a folder: one moment of it is loaded into a temporary folder, and rows,
 * columns and lineages are compared with what this version would write. Members may continue to run.
 *
 * Cost: the size of a data directory with the data, in the temporary folder of the system; the rows are read twice.
 */
export type CheckOptions = SourceOptions & { url: string };

export type CheckReport = { findings: Finding[]; rows: number };

const TIMEOUT_MS = 120_000;

/** @throws DatabaseRefused */
export const checkDatabase = async (options: CheckOptions): Promise<CheckReport> => {
  const connection = readDatabaseUrl(options.url);
  const { dir, remove } = await createScratchFolder('check');
  try {
    const connector = await openSource(connection, options);
    const snapshot = await openSnapshot(connector, { schema: options.schema, timeoutMs: TIMEOUT_MS });
    try {
      return await checkSnapshot(snapshot, dir, options);
    } finally {
      snapshot.close();
    }
  } catch (error) {
    throw error instanceof ServerError || error instanceof ConnectionLost
      ? refusalBy(error, connection)
      : error;
  } finally {
    await remove();
  }
};

const checkSnapshot = async (
  snapshot: Snapshot,
  dir: string,
  { schema, secretsKey }: CheckOptions,
): Promise<CheckReport> => {
  const findings = new Map<string, Finding>();
  const note: Note = (problem, table, key) => {
    const name = `${table}: ${problem}`;
    const found = findings.get(name) ?? { problem, table, count: 0, examples: [], repaired: false };
    found.count += 1;
    if (found.examples.length < EXAMPLES) found.examples.push(JSON.stringify(key));
    findings.set(name, found);
  };
  await checkMembers(snapshot, schema, note);
  await fillFolder(dir, snapshot.rows());
  const rows = await examineRows(dir, snapshot.rows(), note);
  const report = await examine({ dir, ...(secretsKey !== undefined && { secretsKey }) });
  return { findings: [...findings.values(), ...report.findings], rows };
};

const EXAMPLES = 5;

/** Queries whose rows are findings, each with the name of what is wrong. */
const QUERIES: readonly { table: string; problem: string; sql: (schema: string) => string }[] = [
  {
    table: 'commit',
    problem: 'a chain of a member with a hole',
    sql: (s) =>
      `SELECT member AS name FROM ${s}."commit" GROUP BY member HAVING max(no) - min(no) + 1 <> count(*)`,
  },
  {
    table: 'commit',
    problem: 'a chain without a member',
    sql: (s) => `SELECT DISTINCT member AS name FROM ${s}."commit" c
      WHERE NOT EXISTS (SELECT FROM ${s}."member" m WHERE m.id = c.member)`,
  },
  {
    table: 'member',
    problem: 'a member without a chain',
    sql: (s) => `SELECT id AS name FROM ${s}."member" m
      WHERE state <> 'gone' AND NOT EXISTS (SELECT FROM ${s}."commit" c WHERE c.member = m.id)`,
  },
  {
    table: 'lineage',
    problem: 'an owner that is no member',
    sql: (s) => `SELECT id::text AS name FROM ${s}."lineage" l
      WHERE owner IS NOT NULL AND NOT EXISTS (SELECT FROM ${s}."member" m WHERE m.id = l.owner)`,
  },
];

const checkMembers = async (snapshot: Snapshot, schema: string, note: Note): Promise<void> => {
  for (const { table, problem, sql } of QUERIES) {
    const statement = { text: sql(quotedSchema(schema)), values: [] };
    for (const { name } of await snapshot.query<{ name: string }>(statement, TIMEOUT_MS))
      note(problem, table, [name]);
  }
};
