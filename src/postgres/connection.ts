import { Socket } from 'node:net';
import type { Client, ClientConfig } from 'pg';
import type { ConnectionOptions } from './connection-options.ts';
import { ConnectionLost, ServerError } from './errors.ts';

/**
 * One connection to the server. This is the only module that imports `pg`, and it does when the first one is made.
 *
 * Guarantees: a statement that is not answered in time ends the connection at once, without a farewell that a server
 * or a pooler could keep; what it was is then unknown. Neither variables (`PG*`) nor files (`.pgpass`) of libpq count.
 */
export type Connection = {
  /** Whether statements can be sent. */
  readonly isOpen: boolean;
  /** Sends one statement. @throws ServerError, ConnectionLost */
  query<Row extends object>(statement: Statement, timeoutMs: number): Promise<Row[]>;
  /** Sends several statements without parameters, such as a migration. @throws ServerError, ConnectionLost */
  run(sql: string, timeoutMs: number): Promise<void>;
  /** Ends the connection at once. */
  destroy(): void;
};

export type Statement = {
  /** Sent once a connection, unless a pooler is in between. */
  name?: string | undefined;
  text: string;
  values: readonly (string | number | Buffer | null)[];
};

export type Connector = {
  /** Opens a connection, unless the signal ends the attempt. @throws ConnectionLost */
  open(timeoutMs: number, signal?: AbortSignal): Promise<Connection>;
};

/** Fields of the driver that its types do not name. */
type DriverConfig = ClientConfig & { sslnegotiation: 'postgres' };
type DriverClient = {
  connectionParameters: { options: string | undefined; replication: string | undefined };
};

export const createConnector = (options: ConnectionOptions): Connector => ({
  open: async (timeoutMs, signal) => {
    const { Client } = await import('pg');
    const socket = new Socket();
    const client = new Client(configOf(options, socket, timeoutMs));
    ignoreVariables(client);
    const state: State = { client, socket, isOpen: true };
    const close = (): void => {
      state.isOpen = false;
    };
    client.on('error', close);
    client.on('end', close);
    const abort = (): void => destroy(state);
    signal?.addEventListener('abort', abort);
    try {
      await client.connect();
    } catch (error) {
      destroy(state);
      // Also an error of the server: the statement that needed the connection was not sent.
      throw new ConnectionLost(fieldsOf(error).message, { wasSent: false, cause: error });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    return connectionOf(state);
  },
});

type State = { readonly client: Client; readonly socket: Socket; isOpen: boolean };

const connectionOf = (state: State): Connection => ({
  get isOpen() {
    return state.isOpen;
  },
  query: async <Row extends object>({ name, text, values }: Statement, timeoutMs: number) => {
    const query = { text, values: [...values], ...(name !== undefined && { name }) };
    const { rows } = await answered(state, timeoutMs, () => state.client.query<Row>(query));
    return rows;
  },
  run: async (sql, timeoutMs) => {
    await answered(state, timeoutMs, () => state.client.query(sql));
  },
  destroy: () => destroy(state),
});

const destroy = (state: State): void => {
  state.isOpen = false;
  state.socket.destroy();
};

/** Everything has a value here, so that the driver looks for none in the environment. */
const configOf = (options: ConnectionOptions, socket: Socket, timeoutMs: number): DriverConfig => ({
  host: options.host,
  port: options.port,
  user: options.user,
  database: options.database,
  // A function, since the driver would look for a password in files otherwise.
  password: () => options.password ?? '',
  ssl: options.tls,
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  application_name: 'troupe',
  keepAlive: true,
  connectionTimeoutMillis: timeoutMs,
  stream: () => socket,
});

const ignoreVariables = (client: Client): void => {
  // Every client of the driver has these fields.
  const { connectionParameters } = client as unknown as DriverClient;
  connectionParameters.options = undefined;
  connectionParameters.replication = undefined;
};

const answered = async <Result>(
  state: State,
  timeoutMs: number,
  send: () => Promise<Result>,
): Promise<Result> => {
  if (!state.isOpen) throw new ConnectionLost('the connection is closed', { wasSent: false });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    destroy(state);
  }, timeoutMs);
  try {
    return await send();
  } catch (error) {
    if (isLate) throw new ConnectionLost(`no answer within ${Math.round(timeoutMs)} ms`, { wasSent: true });
    const failure = failureOf(error);
    if (failure instanceof ConnectionLost) destroy(state);
    throw failure;
  } finally {
    clearTimeout(timer);
  }
};

/** An error of the server has a severity; every other one is of the connection. */
const failureOf = (error: unknown): ServerError | ConnectionLost => {
  const { message, code, severity, constraint } = fieldsOf(error);
  if (severity !== undefined && code !== undefined) {
    return new ServerError(message, { code, constraint, cause: error });
  }
  return new ConnectionLost(message, { wasSent: true, cause: error });
};

type Fields = { message: string; code?: string; severity?: string; constraint?: string };

const fieldsOf = (error: unknown): Fields => {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields: Fields = { message: error.message };
  for (const name of ['code', 'severity', 'constraint'] as const) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === 'string') fields[name] = value;
  }
  return fields;
};
