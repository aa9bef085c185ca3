import type { RowContent } from '../store/engine/sink.ts';
import type { Connection, Connector } from './connection.ts';
import { ConnectionLost } from './errors.ts';
import { quotedSchema } from './identifier.ts';
import { notReady } from './prepare.ts';
import { beginSnapshot, readContents } from './snapshot.ts';

/**
 * Reads all rows of the database in one snapshot: what was committed before the first page, and nothing later.
 *
 * Guarantees: the connection is closed at the end, also of a reader that stops early, and at once by the signal.
 * Relies on the reader, which receives the next page when it asks for it.
 * Cost: one connection and one old snapshot while it lasts; memory for one page.
 */
export type LoadOptions = {
  connector: Connector;
  schema: string;
  /** Time for the connection, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
};

/** Values can be large, and a database that begins with nothing in memory reads from its disk. */
const PAGE_TIMEOUT_MS = 60_000;

/**
 * Yields pages in the order of kind and key.
 *
 * @throws DatabaseRefused for a schema that is not ready, ServerError, ConnectionLost
 */
export async function* loadRows({
  connector,
  schema,
  timeoutMs,
  signal,
}: LoadOptions): AsyncGenerator<readonly RowContent[]> {
  if (signal.aborted) throw new ConnectionLost('the load has ended', { wasSent: false });
  const connection = await connector.open(timeoutMs, signal);
  const abort = (): void => connection.destroy();
  signal.addEventListener('abort', abort);
  try {
    await beginSnapshot(connection, timeoutMs);
    await assertReady(connection, schema);
    yield* readContents(connection, { schema, timeoutMs: PAGE_TIMEOUT_MS });
    await connection.run('COMMIT', timeoutMs);
  } finally {
    signal.removeEventListener('abort', abort);
    connection.destroy();
  }
}

const assertReady = async (connection: Connection, schema: string): Promise<void> => {
  const text = `SELECT FROM ${quotedSchema(schema)}."meta" WHERE name = 'ready' AND value = 'true'`;
  const rows = await connection.query({ text, values: [] }, PAGE_TIMEOUT_MS);
  if (rows.length === 0) throw notReady(schema);
};
