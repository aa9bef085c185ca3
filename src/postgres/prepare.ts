import { createHash } from 'node:crypto';
import { type Agreed, agree } from './agreement.ts';
import type { Connection, Connector } from './connection.ts';
import { DatabaseRefused, ServerError } from './errors.ts';
import { quotedSchema } from './identifier.ts';
import { MIGRATIONS, NEWEST_VERSION, OLDEST_VERSION } from './migrations/index.ts';

/** What every member of a cluster reads before it joins. */
export type Cluster = { id: string; serverVersion: string };

export type PrepareOptions = {
  schema: string;
  pooled: boolean;
  leaseTtlMs: number;
  durability: 'process' | 'power';
  /** The id of the cluster when this member makes the schema. */
  newClusterId: string;
  timeoutMs: number;
  agreed?: Agreed | undefined;
  /** The schema is the target of a copy: members refuse it until the copy is complete. */
  isTarget?: boolean;
};

/** Checks the server and the schema, and makes what is missing. @throws DatabaseRefused, ServerError, ConnectionLost */
export const prepare = async (connector: Connector, options: PrepareOptions): Promise<Cluster> => {
  const connection = await connector.open(options.timeoutMs);
  try {
    const serverVersion = await checkServer(connection, options);
    await prepareSchema(connection, options);
    if (!options.pooled) await checkNames(connector, connection, options);
    const id = await checkMeta(connection, options);
    const { agreed, schema, timeoutMs } = options;
    if (agreed) await agree(connection, { schema, clusterId: id, agreed, timeoutMs });
    return { id, serverVersion };
  } finally {
    connection.destroy();
  }
};

const OLDEST_SERVER = 140_000;

type ServerRow = { version: string; number: number; replica: boolean; flushes: string };

const checkServer = async (
  connection: Connection,
  { timeoutMs, durability }: PrepareOptions,
): Promise<string> => {
  const text = `SELECT current_setting('server_version') AS version,
    current_setting('server_version_num')::integer AS number, pg_is_in_recovery() AS replica,
    current_setting('synchronous_commit') AS flushes`;
  const [row] = await connection.query<ServerRow>({ text, values: [] }, timeoutMs);
  if (!row || row.number < OLDEST_SERVER) {
    throw new DatabaseRefused(`the server must be PostgreSQL 14 or newer (it is ${row?.version})`);
  }
  if (row.replica) throw new DatabaseRefused('the server is a read replica: every member needs the primary');
  // A member would be ahead of the truth after a crash of the server. With `process` each commit sets its own.
  if (row.flushes === 'off' && durability === 'power') {
    throw new DatabaseRefused('the server loses commits in a crash: its synchronous_commit must not be off');
  }
  // Debian adds its package to the version.
  return row.version.split(' ', 1)[0] ?? row.version;
};

const prepareSchema = async (connection: Connection, options: PrepareOptions): Promise<void> => {
  if ((await readVersion(connection, options)) === NEWEST_VERSION) return;
  try {
    await connection.run('BEGIN', options.timeoutMs);
    await connection.query(
      { text: 'SELECT pg_advisory_xact_lock($1)', values: [lockOf(options.schema)] },
      options.timeoutMs,
    );
    // Another member may have migrated before this one had the lock.
    await migrate(connection, options, await readVersion(connection, options));
    await connection.run('COMMIT', options.timeoutMs);
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== '42501') throw error;
    throw new DatabaseRefused(
      `the user of the database may not make the tables of the schema '${options.schema}' (${error.message})`,
      { cause: error },
    );
  }
};

/** Two clusters in one database migrate independently. */
const lockOf = (schema: string): string =>
  createHash('sha256').update(`troupe schema ${schema}`).digest().readBigInt64BE(0).toString();

/** Returns the version of the schema, or 0 when there is none. @throws DatabaseRefused for one that is not known */
export const readVersion = async (
  connection: Connection,
  { schema, timeoutMs }: Pick<PrepareOptions, 'schema' | 'timeoutMs'>,
): Promise<number> => {
  // `to_regclass` would answer from a cache, which the lock does not bring up to date.
  const text = `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = 'meta') AS exists`;
  const [table] = await connection.query<{ exists: boolean }>({ text, values: [schema] }, timeoutMs);
  if (!table?.exists) return 0;
  const versions = `SELECT value FROM ${quotedSchema(schema)}."meta" WHERE name = 'version'`;
  const [row] = await connection.query<{ value: string }>({ text: versions, values: [] }, timeoutMs);
  const version = Number(row?.value);
  if (version >= OLDEST_VERSION && version <= NEWEST_VERSION) return version;
  const known =
    OLDEST_VERSION === NEWEST_VERSION ? `${NEWEST_VERSION}` : `${OLDEST_VERSION} to ${NEWEST_VERSION}`;
  throw new DatabaseRefused(`the database has schema ${row?.value}, this program knows ${known}`);
};

const migrate = async (connection: Connection, options: PrepareOptions, from: number): Promise<void> => {
  const schema = quotedSchema(options.schema);
  if (from === 0) await createSchema(connection, options);
  for (const migration of MIGRATIONS.slice(from)) await connection.run(migration(schema), options.timeoutMs);
  const values = { version: NEWEST_VERSION, ...(from === 0 && firstMeta(options)) };
  for (const [name, value] of Object.entries(values)) {
    const text = `INSERT INTO ${schema}."meta" (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    await connection.query({ text, values: [name, String(value)] }, options.timeoutMs);
  }
};

const firstMeta = ({ newClusterId, leaseTtlMs, isTarget = false }: PrepareOptions) => ({
  cluster_id: newClusterId,
  ready: !isTarget,
  lease_ttl_ms: leaseTtlMs,
  commons: 0,
});

/** An existing schema needs no right to create one. */
const createSchema = async (connection: Connection, { schema, timeoutMs }: PrepareOptions): Promise<void> => {
  const exists = {
    text: 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1',
    values: [schema],
  };
  const rows = await connection.query(exists, timeoutMs);
  if (rows.length === 0) await connection.run(`CREATE SCHEMA ${quotedSchema(schema)}`, timeoutMs);
};

const checkMeta = async (
  connection: Connection,
  { schema, leaseTtlMs, timeoutMs, isTarget }: PrepareOptions,
): Promise<string> => {
  const meta = await readMeta(connection, schema, timeoutMs);
  const id = meta.get('cluster_id');
  if (id === undefined || (!isTarget && meta.get('ready') !== 'true')) throw notReady(schema);
  const ttl = meta.get('lease_ttl_ms');
  if (ttl === String(leaseTtlMs)) return id;
  throw new DatabaseRefused(
    `SERVICE_LEASE_TTL_MS must be ${ttl}, as of the other members (got ${leaseTtlMs})`,
  );
};

export const readMeta = async (
  connection: Pick<Connection, 'query'>,
  schema: string,
  timeoutMs: number,
): Promise<Map<string, string>> => {
  const text = `SELECT name, value FROM ${quotedSchema(schema)}."meta"`;
  const rows = await connection.query<{ name: string; value: string }>({ text, values: [] }, timeoutMs);
  return new Map(rows.map(({ name, value }) => [name, value]));
};

export const notReady = (schema: string): DatabaseRefused =>
  new DatabaseRefused(
    `the schema '${schema}' is not ready: a copy into it is not complete; repeat the command 'troupe copy'`,
  );

/** More than one, since a pooler may give the second connection another server by chance. */
const NAME_CHECKS = 3;
const NAME_CODES = ['42P05', '26000'];

/** A pooler in transaction mode gives a statement to a server that has another of its name, or none. */
const checkNames = async (
  connector: Connector,
  first: Connection,
  { timeoutMs }: PrepareOptions,
): Promise<void> => {
  const second = await connector.open(timeoutMs);
  try {
    for (let check = 1; check <= NAME_CHECKS; check += 1) {
      for (const connection of [first, second, first]) {
        await connection.query({ name: `troupe_check_${check}`, text: 'SELECT 1', values: [] }, timeoutMs);
      }
    }
  } catch (error) {
    if (!(error instanceof ServerError) || !NAME_CODES.includes(error.code)) throw error;
    throw new DatabaseRefused(
      'a pooler in transaction mode is in front of the database: set SERVICE_DATABASE_POOLED=true',
      { cause: error },
    );
  } finally {
    second.destroy();
  }
};
