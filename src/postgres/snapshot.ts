import type { ShippedRow } from '../store/engine/sink.ts';
import type { Connection, Connector } from './connection.ts';
import { ConnectionLost, DatabaseRefused } from './errors.ts';
import { quotedSchema } from './identifier.ts';

/**
 * Reads all rows of a schema as they are at one moment, while members continue to commit.
 *
 * Guarantees: all pages are of one snapshot, in the order of kind and key; a page has at least one row.
 * Cost: one transaction that only reads, on a separate connection that ends with the last page or with the loop of the
 * caller; memory for one page.
 */

/** The rows of one page, and the bytes of their values from which on a page has no further row. */
const PAGE_ROWS = 2000;
const PAGE_BYTES = 8 * 2 ** 20;

/** Values can be large, and a server that has just started reads from its disk. */
const PAGE_TIMEOUT_MS = 60_000;

export type SnapshotOptions = {
  schema: string;
  /** The longest time to connect, in milliseconds. */
  timeoutMs: number;
  /** Ends the snapshot, and its connection, at once. */
  signal?: AbortSignal | undefined;
};

/** @throws DatabaseRefused for a schema that is not ready, ServerError, ConnectionLost */
export async function* readRows(
  connector: Connector,
  { schema, timeoutMs, signal }: SnapshotOptions,
): AsyncGenerator<readonly ShippedRow[], void> {
  if (signal?.aborted) throw new ConnectionLost('the load has ended', { wasSent: false });
  const text = pageText(schema);
  const connection = await connector.open(timeoutMs, signal);
  const abort = (): void => connection.destroy();
  signal?.addEventListener('abort', abort);
  try {
    await begin(connection, timeoutMs);
    await assertReady(connection, schema);
    let after: Position = FIRST;
    for (;;) {
      const statement = { text, values: [after.kind, after.key] };
      const rows = (await connection.query<StoredRow>(statement, PAGE_TIMEOUT_MS)).map(shippedRow);
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    connection.destroy();
  }
}

const assertReady = async (connection: Connection, schema: string): Promise<void> => {
  const text = `SELECT FROM ${quotedSchema(schema)}."meta" WHERE name = 'ready' AND value = 'true'`;
  const rows = await connection.query({ text, values: [] }, PAGE_TIMEOUT_MS);
  if (rows.length === 0)
    throw new DatabaseRefused(`the schema '${schema}' is not ready: a copy into it is not complete`);
};

/** A slow reader must not lose its snapshot to a limit of the server. */
const begin = async (connection: Connection, timeoutMs: number): Promise<void> => {
  await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', timeoutMs);
  await connection.run('SET LOCAL idle_in_transaction_session_timeout = 0', timeoutMs);
};

type Position = Pick<ShippedRow, 'kind' | 'key'>;

/** Precedes all rows. */
const FIRST: Position = { kind: -1, key: '' };

/** The length of a value is known without reading the value. */
const pageText = (schema: string): string => `
SELECT ${COLUMNS} FROM (
  SELECT *, sum(octet_length(value)) OVER (ORDER BY kind, key ROWS UNBOUNDED PRECEDING)
    - octet_length(value) AS earlier
  FROM (
    SELECT ${COLUMNS} FROM ${quotedSchema(schema)}."row"
    WHERE (kind, key) > ($1::smallint, $2) ORDER BY kind, key LIMIT ${PAGE_ROWS}
  ) page
) measured WHERE earlier < ${PAGE_BYTES} ORDER BY kind, key`;

const COLUMNS = 'kind, key, lineage, scope, a, b, c, d, at, at2, value';

/** The driver returns `bigint` columns as texts. */
type StoredRow = Omit<ShippedRow, 'lineage' | 'at' | 'at2'> & {
  lineage: string | null;
  at: string | null;
  at2: string | null;
};

const shippedRow = ({ lineage, at, at2, ...row }: StoredRow): ShippedRow => ({
  ...row,
  lineage: lineage === null ? null : BigInt(lineage),
  at: at === null ? null : Number(at),
  at2: at2 === null ? null : Number(at2),
});
