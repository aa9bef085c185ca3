import { type Connector, createConnector } from './connection.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { checkSecrets } from './copy-target.ts';
import { DatabaseRefused } from './errors.ts';
import { notReady, readMeta, readVersion } from './prepare.ts';

/** Options of programs that only read a schema. */
export type SourceOptions = {
  schema: string;
  secretsKey: string | undefined;
  warn(message: string): void;
};

const TIMEOUT_MS = 30_000;

/** Checks a schema that a program reads, and changes nothing. @throws DatabaseRefused, ServerError, ConnectionLost */
export const openSource = async (
  connection: ConnectionOptions,
  { schema, secretsKey, warn }: SourceOptions,
): Promise<Connector> => {
  if (connection.warning !== undefined) warn(connection.warning);
  const connector = createConnector(connection);
  const opened = await connector.open(TIMEOUT_MS);
  try {
    if ((await readVersion(opened, { schema, timeoutMs: TIMEOUT_MS })) === 0)
      throw new DatabaseRefused(`the schema '${schema}' does not exist, or has no data of a cluster`);
    const meta = await readMeta(opened, schema, TIMEOUT_MS);
    if (meta.get('ready') !== 'true') throw notReady(schema);
    await checkSecrets(meta, secretsKey);
    return connector;
  } finally {
    opened.destroy();
  }
};
