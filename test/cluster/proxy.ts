import { on, once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A TCP proxy between a client and a server of PostgreSQL's protocol that can lose, delay and reorder bytes.
 *
 * Guarantees: bytes of one direction of a connection are never reordered or changed; a mode affects connections from
 * its call on, and only those that it names. Relies on statements that are sent in one chunk, by which a connection is
 * recognized. Cost: two sockets for each connection, and the held bytes.
 */

/**
 * - `pass`: forwards both directions.
 * - `cut`: destroys the connection, and each new one.
 * - `eat`: forwards requests, discards responses.
 * - `hold`: keeps requests until `deliver`, also after the client has left.
 * - `slow`: forwards both directions with a delay.
 */
export type Mode = 'pass' | 'cut' | 'eat' | 'hold' | 'slow';

export type Connection = {
  mode: Mode;
  client: Socket;
  server: Socket;
  /** Whether a request with the text of `PostgresProxy.marks` was sent on it. */
  isMarked: boolean;
  /** Requests that wait for `deliver`. */
  held: Buffer[];
  /** The end of the last delayed chunk. */
  delayed: Promise<unknown>;
};

export type PostgresProxy = {
  port: number;
  /** Sets the mode of all connections and of new ones. */
  all(mode: Mode): void;
  /** Sets the mode of the connections that carried the marked statement; new ones pass. @returns their number */
  marked(mode: Mode): number;
  /** Applies the mode to a connection as soon as it sends the next marked statement, before that is forwarded. */
  atNextMarked(mode: Mode): Promise<Connection>;
  /** Sends the held requests of all connections, and waits until the server has executed those of clients that left. */
  deliver(): Promise<number>;
  /** The number of requests that are held, by chunks. */
  held(): number;
  close(): Promise<void>;
};

export type ProxyOptions = {
  /** Socket or port of the server. */
  to: NetConnectOpts;
  /** A part of the statement that marks a connection. */
  marks?: string;
  port?: number;
};

/** The part of a test that a proxy needs. */
type Scope = { teardown(end: () => Promise<void>): void };

const SLOW_MS = 120;

/** The message by which a server reports that it has executed all requests. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05', 'latin1');

/** The time for the execution of delivered requests, unless they fail or wait for a lock. */
const EXECUTION_MS = 3_000;

export const startProxy = async (t: Scope, options: ProxyOptions): Promise<PostgresProxy> => {
  const { to, marks = 'commit_1', port = 0 } = options;
  const connections = new Set<Connection>();
  const waiting: { mode: Mode; resolve(connection: Connection): void }[] = [];
  let initial: Mode = 'pass';

  const sawRequest = (connection: Connection, chunk: Buffer): void => {
    // A named statement is sent as a text once only; its name has the same mark.
    if (!chunk.includes(marks)) return;
    connection.isMarked = true;
    const next = waiting.shift();
    if (next === undefined) return;
    setMode(connection, next.mode);
    next.resolve(connection);
  };

  const server = createServer((client) => {
    if (initial === 'cut') return void client.destroy();
    const connection = connectTo(client, to, initial);
    connections.add(connection);
    forward(connection, sawRequest);
    connection.server.once('close', () => connections.delete(connection));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const proxy: PostgresProxy = {
    port: portOf(server),
    all(mode) {
      initial = mode;
      for (const connection of connections) setMode(connection, mode);
    },
    marked(mode) {
      initial = 'pass';
      const found = [...connections].filter(({ isMarked }) => isMarked);
      for (const connection of found) setMode(connection, mode);
      return found.length;
    },
    atNextMarked: (mode) => new Promise((resolve) => waiting.push({ mode, resolve })),
    async deliver() {
      const delivered = await Promise.all([...connections].map(deliverHeld));
      return delivered.reduce((sum, count) => sum + count, 0);
    },
    held: () => [...connections].reduce((sum, { held }) => sum + held.length, 0),
    async close() {
      for (const { client, server: upstream } of connections) {
        client.destroy();
        upstream.destroy();
      }
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
  t.teardown(proxy.close);
  return proxy;
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
};

const connectTo = (client: Socket, to: NetConnectOpts, mode: Mode): Connection => ({
  mode,
  client,
  server: connect({ ...to, noDelay: true }),
  isMarked: false,
  held: [],
  delayed: Promise.resolve(),
});

const setMode = (connection: Connection, mode: Mode): void => {
  connection.mode = mode;
  if (mode === 'cut') {
    connection.client.destroy();
    connection.server.destroy();
  }
  // Requests stay in their order: what was held is sent before the next request.
  if (mode === 'pass') flush(connection);
};

const flush = (connection: Connection): number => {
  const chunks = connection.held.splice(0);
  for (const chunk of chunks) connection.server.write(chunk);
  return chunks.length;
};

const deliverHeld = async (connection: Connection): Promise<number> => {
  const count = flush(connection);
  if (!connection.client.destroyed) connection.mode = 'pass';
  else {
    if (count > 0) await executed(connection);
    connection.server.destroy();
  }
  return count;
};

const executed = async ({ server }: Connection): Promise<void> => {
  const signal = AbortSignal.timeout(EXECUTION_MS);
  try {
    for await (const [chunk] of on(server, 'data', { signal, close: ['close'] }))
      if (chunk.includes(READY_FOR_QUERY)) return;
  } catch {
    // The server waits for a lock longer than the proxy does.
  }
};

const delay = (connection: Connection, send: () => void): void => {
  connection.delayed = connection.delayed.then(() => pause(SLOW_MS)).then(send);
};

const forward = (
  connection: Connection,
  sawRequest: (connection: Connection, chunk: Buffer) => void,
): void => {
  const { client, server } = connection;
  client.setNoDelay(true);
  client.on('data', (chunk) => {
    sawRequest(connection, chunk);
    if (connection.mode === 'hold') connection.held.push(chunk);
    else if (connection.mode === 'slow') delay(connection, () => server.write(chunk));
    else if (connection.mode !== 'cut') server.write(chunk);
  });
  server.on('data', (chunk) => {
    if (connection.mode === 'slow') delay(connection, () => client.write(chunk));
    else if (connection.mode === 'pass') client.write(chunk);
  });
  // Errors of a connection are followed by its close.
  client.on('error', () => undefined);
  server.on('error', () => undefined);
  client.on('close', () => {
    if (connection.mode === 'hold') return;
    if (connection.mode === 'slow') delay(connection, () => server.destroy());
    else server.destroy();
  });
  server.on('close', () => client.destroy());
};
