import type { RowContent, ShippedRow } from '../store/engine/sink.ts';
import type { Connection, Connector } from './connection.ts';
import { quotedSchema } from './identifier.ts';

/**
 * Reads all rows of a schema as they are at one moment, while members continue to commit.
 *
 * Guarantees: all pages are of one snapshot, in the order of kind and key; a page has at least one row.
 * Cost: memory for one page.
 */

/** The rows of one page, and the bytes of their values from which on a page has no further row. */
const PAGE_ROWS = 2000;
const PAGE_BYTES = 8 * 2 ** 20;

export type SnapshotOptions = {
  schema: string;
  /** The longest time for one page, in milliseconds. */
  timeoutMs: number;
};

/** Reads all rows on a separate connection, which ends with the loop of the caller. @throws ServerError, ConnectionLost */
export async function* readRows(
  connector: Connector,
  options: SnapshotOptions,
): AsyncGenerator<readonly ShippedRow[], void> {
  const snapshot = await openSnapshot(connector, options);
  try {
    yield* snapshot.rows();
  } finally {
    snapshot.close();
  }
}

/** One moment of a schema, which can be read several times. */
export type Snapshot = Pick<Connection, 'query'> & {
  rows(): AsyncGenerator<readonly ShippedRow[], void>;
  close(): void;
};

/** @throws ServerError, ConnectionLost */
export const openSnapshot = async (connector: Connector, options: SnapshotOptions): Promise<Snapshot> => {
  const connection = await connector.open(options.timeoutMs);
  try {
    await beginSnapshot(connection, options.timeoutMs);
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    query: connection.query,
    rows: () => readPages(connection, options),
    close: connection.destroy,
  };
};

/** Begins the transaction of a snapshot. A slow reader must not lose it to a limit of the server. */
export const beginSnapshot = async (connection: Connection, timeoutMs: number): Promise<void> => {
  await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', timeoutMs);
  await connection.run('SET LOCAL idle_in_transaction_session_timeout = 0', timeoutMs);
};

export const isEmpty = async (
  lane: Pick<Connection, 'query'>,
  schema: string,
  timeoutMs: number,
): Promise<boolean> => {
  const text = `SELECT NOT EXISTS (SELECT FROM ${quotedSchema(schema)}."row") AS empty`;
  const [row] = await lane.query<{ empty: boolean }>({ text, values: [] }, timeoutMs);
  return row?.empty === true;
};

/** Reads all rows in the transaction of the connection. @throws ServerError, ConnectionLost */
export async function* readPages(
  connection: Connection,
  options: SnapshotOptions,
): AsyncGenerator<readonly ShippedRow[], void> {
  for await (const page of pagesOf<StoredRow>(connection, COLUMNS, options)) yield page.map(shippedRow);
}

/** Reads all rows without the columns that only lists need: those are parts of the values. */
export const readContents = (
  connection: Connection,
  options: SnapshotOptions,
): AsyncGenerator<readonly RowContent[], void> => pagesOf(connection, CONTENT_COLUMNS, options);

async function* pagesOf<Row extends Position>(
  connection: Connection,
  columns: string,
  { schema, timeoutMs }: SnapshotOptions,
): AsyncGenerator<Row[], void> {
  const text = pageText(schema, columns);
  let after: Position = FIRST;
  for (;;) {
    const rows = await connection.query<Row>({ text, values: [after.kind, after.key] }, timeoutMs);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last;
  }
}

type Position = Pick<ShippedRow, 'kind' | 'key'>;

/** Precedes all rows. */
const FIRST: Position = { kind: -1, key: '' };

/** The length of a value is known without reading the value. */
const pageText = (schema: string, columns: string): string => `
SELECT ${columns} FROM (
  SELECT *, sum(octet_length(value)) OVER (ORDER BY kind, key ROWS UNBOUNDED PRECEDING)
    - octet_length(value) AS earlier
  FROM (
    SELECT ${columns} FROM ${quotedSchema(schema)}."row"
    WHERE (kind, key) > ($1::smallint, $2) ORDER BY kind, key LIMIT ${PAGE_ROWS}
  ) page
) measured WHERE earlier < ${PAGE_BYTES} ORDER BY kind, key`;

const COLUMNS = 'kind, key, lineage, scope, a, b, c, d, at, at2, value';
const CONTENT_COLUMNS = 'kind, key, value';

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
