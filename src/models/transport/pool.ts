import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { buildConnector, Pool as ConnectionPool, Dispatcher } from 'undici';
import { type Deadline, deadline, type Wheel } from './wheel.ts';

/**
 * Connections to providers: one pool per origin, opened by its first request.
 *
 * Guarantees: an idle connection stays open for `keepAliveSeconds`, or for the time that the server announces if that
 * is shorter; at most `connections` are open per origin, and further requests wait for one; TLS sessions are resumed;
 * the proxy variables of the environment apply, except for this host and its metadata services; `close` leaves no
 * socket open.
 * Relies on: undici, which the first request loads, so that it adds nothing to the startup time of the service.
 * Cost: when a cancel closes a connection, undici replaces it with a new one.
 * HTTP/2 is not offered: a model provider streams one completion per request, and the streams of one connection would
 * share its flow-control window and its packet loss.
 */
export type Pool = {
  /** Loads the client. Returns undefined once it is loaded. */
  ready(): Promise<void> | undefined;
  /**
   * `fresh`: uses a connection without earlier requests. Throws when the pool is closed; the handler receives all other
   * failures.
   */
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler, fresh: boolean): void;
  /** Whether a new connection is being passed to the request that opened it. */
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
/** Time for an address to accept before the next address of the host is tried. */
const NEXT_ADDRESS_MS = 250;
/** The client closes a connection this much earlier than the server announces. */
const EARLIER_MS = 2000;

type Loaded = { pooled: Dispatcher; fresh: Dispatcher };

export const createPool = (options: PoolOptions): Pool => {
  const connector = createConnector(options);
  let loading: Promise<void> | undefined;
  let loaded: Loaded | undefined;
  let closed = false;
  const load = async (): Promise<void> => {
    await connector.load();
    // In a bundle, the members of a CommonJS package are only on its default export.
    const { EnvHttpProxyAgent, Pool: ConnectionPool } = (await import('undici')).default;
    const idleMs = options.keepAliveSeconds * 1000;
    const shared = {
      ...proxiesOf(options.env),
      // A proxy for plain HTTP receives the whole address; most proxies allow tunnels only to TLS ports.
      proxyTunnel: false,
      clientFactory: (proxy: URL, given: object) =>
        reportingFailures(new ConnectionPool(proxy, { ...given, headersTimeout: CONNECT_MS })),
      connect: connector.connect,
      connections: options.connections,
      keepAliveTimeout: Math.max(1, idleMs),
      keepAliveMaxTimeout: Math.max(1, idleMs),
      keepAliveTimeoutThreshold: EARLIER_MS,
      // The watchdog of a call enforces its timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    loaded = {
      pooled: new EnvHttpProxyAgent(shared),
      // Without pipelining each request gets a connection that is closed afterwards.
      fresh: new EnvHttpProxyAgent({ ...shared, pipelining: 0 }),
    };
  };
  return {
    ready() {
      if (loaded) return undefined;
      loading ??= load().catch((error: unknown) => {
        // The next request loads it again.
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
 * undici mistakes the code of a closed proxy connection for that of an idle connection to the origin, and reconnects
 * immediately in an endless loop. An error without that code fails the waiting requests instead.
 */
const reportingFailures = (proxy: ConnectionPool): ConnectionPool => {
  const connect = proxy.connect.bind(proxy);
  const checked = (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> =>
    connect(options).catch((cause: Error) => {
      throw new Error(`proxy: ${cause.message}`, { cause });
    });
  return Object.assign(proxy, { connect: checked });
};

/** This host, and services that only it can reach: their responses contain its credentials. */
const LOCAL = [
  ...['localhost', '127.0.0.1', '[::1]'],
  ...['169.254.169.254', '[fd00:ec2::254]', 'metadata.google.internal'],
  ...['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'],
];

/** An empty address disables the proxy; without one the client would read the variables of the process. */
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

/** Opens sockets. TLS sessions are kept here, because undici's connector only holds weak references to them. */
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
    // The listener is never removed: a socket without an error listener would crash the process.
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
