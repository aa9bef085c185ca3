import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { buildConnector, Pool as ConnectionPool, Dispatcher } from 'undici';
import { type Deadline, deadline, type Wheel } from './wheel.ts';

/**
 * Connections to providers: one pool for each origin, opened by its first request.
 *
 * Guarantees: a connection that is idle stays open for `keepAliveSeconds`, or for as long as the server announces where
 * that is shorter; no more than `connections` are open to an origin, and further requests wait for one; TLS sessions
 * are resumed; the proxy variables of the environment hold, except for this host itself; `close` leaves no socket.
 * Relies on: undici, which is loaded by the first request, so that a start of the service does not pay for it.
 * Costs: undici replaces a connection that a cancel closed by a new one.
 * HTTP/2 is not offered: a model provider streams one answer for each request, and the streams of one connection share
 * its window and its loss.
 */
export type Pool = {
  /** Loads the client. Undefined once it is loaded. */
  ready(): Promise<void> | undefined;
  /** `fresh`: on a connection that no request has used before. Calls the handler with what fails at once. */
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler, fresh: boolean): void;
  /** Whether a new connection is being handed to the request that it was opened for. */
  isOpening(): boolean;
  close(): Promise<void>;
};

export type DispatchOptions = Dispatcher.DispatchOptions & { origin: string };

export type PoolOptions = {
  keepAliveSeconds: number;
  connections: number;
  env: Readonly<Record<string, string | undefined>>;
  wheel: Wheel;
};

const CONNECT_MS = 10_000;
/** How long a host may take to accept before its next address is tried. */
const NEXT_ADDRESS_MS = 250;
/** The client closes a connection so much earlier than the server announces. */
const EARLIER_MS = 2000;

type Loaded = { pooled: Dispatcher; fresh: Dispatcher };

export const createPool = (options: PoolOptions): Pool => {
  const connector = createConnector(options);
  let loading: Promise<void> | undefined;
  let loaded: Loaded | undefined;
  let closed = false;
  const load = async (): Promise<void> => {
    await connector.load();
    // A bundle has the members of a CommonJS package on its default export alone.
    const { EnvHttpProxyAgent, Pool: ConnectionPool } = (await import('undici')).default;
    const idleMs = options.keepAliveSeconds * 1000;
    const shared = {
      ...proxiesOf(options.env),
      // A proxy for plain HTTP gets the whole address; most allow tunnels to TLS ports only.
      proxyTunnel: false,
      clientFactory: (proxy: URL, given: object) =>
        reportingFailures(new ConnectionPool(proxy, { ...given, headersTimeout: CONNECT_MS })),
      connect: connector.connect,
      connections: options.connections,
      keepAliveTimeout: Math.max(1, idleMs),
      keepAliveMaxTimeout: Math.max(1, idleMs),
      keepAliveTimeoutThreshold: EARLIER_MS,
      // The watchdog of a call ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    loaded = {
      pooled: new EnvHttpProxyAgent(shared),
      // Without pipelining each request gets a connection that is closed after it.
      fresh: new EnvHttpProxyAgent({ ...shared, pipelining: 0 }),
    };
  };
  return {
    ready() {
      if (loaded) return undefined;
      loading ??= load().catch((error: unknown) => {
        // The next request tries again.
        loading = undefined;
        throw error;
      });
      return loading;
    },
    dispatch(request, handler, fresh) {
      if (!loaded || closed) throw new Error('the connections to providers are closed');
      (fresh ? loaded.fresh : loaded.pooled).dispatch(request, handler);
    },
    isOpening: connector.isOpening,
    async close() {
      closed = true;
      connector.close();
      await loading?.catch(() => {});
      await Promise.all([loaded?.pooled.destroy(), loaded?.fresh.destroy()]);
    },
  };
};

/**
 * undici takes the code of a closed connection to a proxy for that of an idle connection to the origin, and connects
 * again at once and without an end. An error without that code fails the requests that wait.
 */
const reportingFailures = (proxy: ConnectionPool): ConnectionPool => {
  const connect = proxy.connect.bind(proxy);
  const checked = (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> =>
    connect(options).catch((cause: Error) => {
      throw new Error(`proxy: ${cause.message}`, { cause });
    });
  return Object.assign(proxy, { connect: checked });
};

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** An empty address is none; without one the client would read the variables of the process. */
const proxiesOf = (env: PoolOptions['env']) => {
  const given = env.no_proxy ?? env.NO_PROXY ?? '';
  return {
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: given.trim() === '*' ? '*' : [given, ...LOCAL].join(','),
  };
};

const addressOf = (host: string, port: number): TcpNetConnectOpts => ({
  host,
  port,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
});

/** Opens sockets. Sessions are held here, because the connector of undici holds them weakly. */
const createConnector = ({ wheel }: PoolOptions) => {
  const sessions = new Map<string, Buffer>();
  const connecting = new Set<Socket>();
  let tls: typeof import('node:tls') | undefined;
  let opening = false;
  const secure = ({ hostname, port, servername }: buildConnector.Options): TLSSocket => {
    const name = servername || (isIP(hostname) === 0 ? hostname : '');
    const key = `${hostname}:${port}`;
    const session = sessions.get(key);
    const options: ConnectionOptions = {
      ...addressOf(hostname, Number(port) || 443),
      servername: name,
      ALPNProtocols: ['http/1.1'],
      ...(session && { session }),
    };
    if (!tls) throw new Error('TLS is not loaded');
    const socket = tls.connect(options);
    socket.on('session', (latest) => sessions.set(key, latest));
    return socket;
  };
  const plain = ({ hostname, port }: buildConnector.Options): Socket =>
    connectTcp(addressOf(hostname, Number(port) || 80));
  const connect: buildConnector.connector = (options, callback) => {
    const isSecure = options.protocol === 'https:';
    const socket = isSecure ? secure(options) : plain(options);
    connecting.add(socket);
    let waits = true;
    const late: Deadline = deadline(() =>
      socket.destroy(Object.assign(new Error('connect timeout'), { code: 'ETIMEDOUT' })),
    );
    wheel.set(late, CONNECT_MS);
    const ended = (): boolean => {
      wheel.remove(late);
      connecting.delete(socket);
      const first = waits;
      waits = false;
      return first;
    };
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      if (!ended()) return;
      opening = true;
      callback(null, socket);
      opening = false;
    });
    // Stays: a socket without a listener for errors would end the process.
    socket.on('error', (error) => {
      if (ended()) callback(error, null);
    });
    socket.once('close', () => {
      if (ended()) callback(new Error('the connection was closed while it was made'), null);
    });
  };
  return {
    connect,
    isOpening: () => opening,
    async load(): Promise<void> {
      tls ??= await import('node:tls');
    },
    close() {
      for (const socket of connecting) socket.destroy();
      sessions.clear();
    },
  };
};
