import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { Unavailable } from '../schema/outcome.ts';
import { createCaller } from './call.ts';
import type { Exchange, ExchangeContext, Observer } from './exchange.ts';
import { createGate } from './gate.ts';
import type { HostCheck } from './hosts.ts';
import type { Mount } from './mount.ts';
import { type OpenApiInfo, openApiRoute } from './openapi.ts';
import { createPipeline } from './pipeline.ts';
import type { Route } from './route.ts';
import { groupByPath, mounted } from './router.ts';
import type { ScopeProvider } from './scope.ts';
import { flushStreams } from './sse.ts';
import { createStreamHub } from './stream-hub.ts';
import { uWS } from './uws.ts';

/** The HTTP server: a route table on uWebSockets.js. It knows nothing of what the routes do. */

export type HttpDeps = {
  routes: Route[];
  /** Parts of the paths that protocols rule by themselves. */
  mounts?: readonly Mount[];
  settings: {
    body_limit_bytes: number;
    attachment_body_limit_bytes: number;
    eval_body_limit_bytes: number;
    max_concurrent_requests: number;
    sse_heartbeat_ms: number;
    sse_buffer_size: number;
    cors_allowed_origins: readonly string[];
    trust_forwarded_headers: boolean;
  };
  /** Missing: a request may name any host. */
  acceptsHost?: HostCheck | undefined;
  adminToken: string | undefined;
  /** What it throws is the reason of a 401; the scope id it returns is checked. */
  resolveScope: ScopeProvider;
  /** `request` is called when the response has ended or the client has gone; `seconds` until its head. */
  observe: Observer & { stream(delta: 1 | -1): void };
  log: {
    error(data: object, text: string): void;
    warn(data: object, text: string): void;
    info(data: object, text: string): void;
    debug(data: object, text: string): void;
    isLevelEnabled(level: string): boolean;
  };
  openApi: OpenApiInfo;
};

export type HttpServer = {
  /** Port 0 takes a free one. Rejects when the address cannot be had. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** No new connections, and 503 for new requests on open ones; what is under way goes on. */
  stopListening(): void;
  /** Ends everything that is still open. */
  close(): Promise<void>;
};

export const createHttpServer = (deps: HttpDeps): HttpServer => {
  const { settings, observe, log } = deps;
  const app = uWS.App();
  const context: ExchangeContext = {
    observe,
    draining: false,
    ended: log.isLevelEnabled('debug') ? requestLine(log) : undefined,
    report: (error) => log.error({ err: error }, 'a listener of an event stream failed'),
  };
  const gate = createGate({ limit: settings.max_concurrent_requests });
  const hub = createStreamHub({
    heartbeatMs: settings.sse_heartbeat_ms,
    maxHeldFrames: settings.sse_buffer_size,
    observe: observe.stream,
  });
  const answer = createPipeline({ ...deps, context, caller: createCaller({ gate, hub, log }) });
  const { routes, mounts = [] } = deps;
  const document = openApiRoute([...routes, ...mounts.flatMap(({ described }) => described)], deps.openApi);
  for (const entry of [...groupByPath([...routes, document]), ...mounts.map(mounted)]) {
    app.any(entry.path, answer(entry));
  }
  app.any('/*', answer(undefined));

  let socket: us_listen_socket | undefined;
  const stopListening = (): void => {
    context.draining = true;
    if (socket) uWS.us_listen_socket_close(socket);
    socket = undefined;
  };

  return {
    async listen(host, port) {
      socket = await listenExclusively(app, host, port);
      return { port: uWS.us_socket_local_port(socket) };
    },
    stopListening,
    async close() {
      stopListening();
      gate.close();
      hub.close();
      flushStreams();
      app.close();
    },
  };
};

/** A line a request, where the log shows it: its route and never its address, which may hold what nobody may read. */
const requestLine =
  (log: Pick<HttpDeps['log'], 'debug'>) =>
  ({ requestId: request_id, method, route, status, seconds }: Exchange): void =>
    log.debug({ request_id, method, route, status, seconds }, 'request ended');

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`. Without it the system spreads connections over all who listen on the port. */
const EXCLUSIVE = 1;

const listenExclusively = (app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> =>
  new Promise((resolve, reject) => {
    // uWebSockets.js takes host and options together; its types only know one of them at a time.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: us_listen_socket | false) => void,
    ) => void;
    listen(host, port, EXCLUSIVE, (socket) => {
      if (socket) resolve(socket);
      else
        reject(
          new Unavailable(`cannot listen on ${host}:${port}: the address is in use or not of this machine`),
        );
    });
  });
