import { COMMONS } from '../store/engine/lineage.ts';
import type { ShippedBatch, ShippedRow } from '../store/engine/sink.ts';
import type { ExportedPage, RowPlace } from '../store/export.ts';
import type { FolderExport } from '../store/folder-export.ts';
import { type Connector, createConnector } from './connection.ts';
import { readDatabaseUrl } from './connection-options.ts';
import { type CopyState, readTarget, type Target, writeMeta } from './copy-target.ts';
import { ConnectionLost, DatabaseRefused, ServerError } from './errors.ts';
import { createLane } from './lane.ts';
import { fenceRow, joinRow, leaveRow, type Rows, readMembers } from './member-rows.ts';
import { prepare } from './prepare.ts';
import { refusalBy } from './refusals.ts';
import { createSink, type MemberSink } from './sink.ts';
import { readRows } from './snapshot.ts';
import { openSource } from './source.ts';
import { createStatements } from './statements.ts';

/**
 * Copies of all rows between a folder and a schema (cluster.md 12.1).
 *
 * Guarantees: a schema is ready for members when it has all rows of the folder. A copy that was interrupted continues
 * behind the rows that the schema has. Only one process writes: each ends the membership of those before it.
 * Relies on the folder staying as it is, which its number of openings shows.
 */
export type CopyOptions = {
  url: string;
  schema: string;
  pooled: boolean;
  leaseTtlMs: number;
  secretsKey: string | undefined;
  program: string;
  now(): number;
  newId(): string;
  warn(message: string): void;
};

export type CopyProgress = { kind: number; rows: number };

const TIMEOUT_MS = 30_000;

/** @returns the number of rows that this call has copied @throws DatabaseRefused */
export const copyToDatabase = (
  folder: FolderExport,
  options: CopyOptions,
  progress: (progress: CopyProgress) => void,
): Promise<number> =>
  connected(options, async (connector) => {
    const { schema, pooled, leaseTtlMs } = options;
    await prepare(connector, {
      ...{ schema, pooled, leaseTtlMs, durability: 'power', timeoutMs: TIMEOUT_MS },
      newClusterId: options.newId(),
      isTarget: true,
    });
    const statements = createStatements({ schema, pooled, durability: 'power' });
    const rows: Rows = { lane: createLane(connector), statements, timeoutMs: TIMEOUT_MS };
    try {
      const target: Target = { lane: rows.lane, schema, timeoutMs: TIMEOUT_MS };
      const state = await readTarget(target, { ...folder, secretsKey: options.secretsKey });
      for (const { id, beat, state } of (await readMembers(rows)).members)
        if (state !== 'gone') await fenceRow(rows, { member: id, beat, reason: 'replaced by another copy' });
      return await writeAll({ connector, rows, target, options, progress }, folder, state);
    } finally {
      rows.lane.close();
    }
  });

type Writing = {
  connector: Connector;
  rows: Rows;
  target: Target;
  options: CopyOptions;
  progress: (progress: CopyProgress) => void;
};

const writeAll = async (writing: Writing, folder: FolderExport, state: CopyState): Promise<number> => {
  const { connector, rows, target, options } = writing;
  const id = options.newId();
  const member = { name: 'troupe copy', url: '', program: options.program, state: 'draining' } as const;
  await joinRow(rows, { id, now: options.now(), member });
  const { statements, timeoutMs } = rows;
  const sink = createSink({ member: id, lane: createLane(connector), statements, timeoutMs, observe() {} });
  try {
    await ship(sink, batchOf([], { births: [COMMONS] }));
    const count = await writePages(writing, sink, folder.rows(state.place), state);
    await ship(sink, batchOf([], { releases: [{ lineage: COMMONS, due: 0 }] }));
    await leaveRow(rows, id, 'left');
    await writeMeta(target, { copied: undefined, ready: 'true' });
    return count;
  } finally {
    sink.close();
  }
};

const writePages = async (
  { target, progress }: Writing,
  sink: MemberSink,
  pages: Iterable<ExportedPage>,
  state: CopyState,
): Promise<number> => {
  let count = 0;
  let isFirst = true;
  for (const { rows, last } of pages) {
    // An interrupted copy may have written this page, and not its place.
    const gone = isFirst ? rows.map(({ kind, key }) => ({ kind, key })) : [];
    await ship(sink, batchOf(rows, { gone }));
    await writeMeta(target, { copied: JSON.stringify({ ...state, place: last satisfies RowPlace }) });
    isFirst = false;
    count += rows.length;
    progress({ kind: last.kind, rows: count });
  }
  return count;
};

const batchOf = (rows: readonly ShippedRow[], given: Partial<ShippedBatch>): ShippedBatch => ({
  lineage: COMMONS,
  owners: [COMMONS],
  births: [],
  releases: [],
  gone: [],
  ...given,
  rows,
});

const ship = async (sink: MemberSink, batch: ShippedBatch): Promise<void> => {
  const [outcome] = await sink.ship([batch]);
  if (outcome?.result !== 'refused') return;
  if (outcome.why === 'fenced') throw new DatabaseRefused('another copy has begun to write the schema');
  throw outcome.error;
};

/**
 * Reads all rows of a schema that is ready, as of one moment.
 *
 * @throws DatabaseRefused, also while rows are read
 */
export async function* readDatabase(options: CopyOptions): AsyncGenerator<readonly ShippedRow[], void> {
  const connection = readDatabaseUrl(options.url);
  try {
    const connector = await openSource(connection, options);
    yield* readRows(connector, { schema: options.schema, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    throw isOfDatabase(error) ? refusalBy(error, connection) : error;
  }
}

const connected = async <Result>(
  { url, warn }: CopyOptions,
  act: (connector: Connector) => Promise<Result>,
): Promise<Result> => {
  const connection = readDatabaseUrl(url);
  if (connection.warning !== undefined) warn(connection.warning);
  try {
    return await act(createConnector(connection));
  } catch (error) {
    throw isOfDatabase(error) ? refusalBy(error, connection) : error;
  }
};

const isOfDatabase = (error: unknown): boolean =>
  error instanceof ServerError || error instanceof ConnectionLost;
