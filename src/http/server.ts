import { createBodyRoom } from './body-room.ts';
import { createCaller } from './call.ts';
import { createConnectionBudget, mostConnections } from './connection-budget.ts';
import type { Exchange, ExchangeContext, Observer } from './exchange.ts';
import type { Family } from './family.ts';
import { createFetch, type Local } from './fetch.ts';
import { createGate } from './gate.ts';
import { createGuesses } from './guesses.ts';
import type { HostCheck } from './hosts.ts';
import type { ListenAddress } from './listen-address.ts';
import { listenOnNode } from './node-socket.ts';
import { type OpenApiInfo, openApiRoute } from './openapi.ts';
import { createPaths } from './paths.ts';
import { createPipeline } from './pipeline.ts';
import type { Route } from './route.ts';
import { entriesOf, groupByPath } from './router.ts';
import type { ScopeProvider } from './scope.ts';
import { type Listening, listenOn } from './socket.ts';
import { flushStreams } from './sse.ts';
import { createStreamHub } from './stream-hub.ts';
import type { Unrouted } from './unrouted.ts';
import { createUnsent } from './unsent.ts';
import type { HttpServerChoice } from './uws.ts';

/**
 * The HTTP server: a route table, on a socket of uWebSockets.js and for programs that have it inside themselves. It
 * knows nothing of what the routes do.
 */

export type HttpDeps = {
  routes: Route[];
  families?: readonly Family[];
  settings: {
    body_limit_bytes: number;
    attachment_body_limit_bytes: number;
    eval_body_limit_bytes: number;
    max_concurrent_requests: number;
    sse_heartbeat_ms: number;
    sse_buffer_size: number;
    response_buffer_bytes: number;
    request_buffer_bytes: number;
    body_timeout_ms: number;
    cors_allowed_origins: readonly string[];
    trust_forwarded_headers: boolean;
    trusted_proxies: readonly string[];
  };
  /** Who is asked for paths that no route has. */
  unrouted?: Unrouted | undefined;
  /** Missing: a request may name any host. */
  acceptsHost?: HostCheck | undefined;
  /** The host of the public address; without it, clients use the address that they connect to. */
  publicHost?: string | undefined;
  adminToken: string | undefined;
  /** What it throws is the reason of a 401; the scope id it returns is checked. */
  resolveScope: ScopeProvider;
  /** `request` is called when the response has ended or the client has gone; `seconds` until its head. */
  observe: Observer & {
    stream(delta: 1 | -1): void;
    unsent(bytes: number): void;
    received(bytes: number): void;
    adminRefused(outcome: 'refused' | 'limited'): void;
  };
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
  listen(server: HttpServerChoice, address: ListenAddress): Promise<{ port: number | undefined }>;
  /** Answers as over a socket, without one; also while nothing listens. */
  fetch: Local['fetch'];
  /** No new connections, and 503 for new requests on open ones; what is under way goes on. */
  stopListening(): void;
  /** Resolves when every request that was accepted is answered, apart from streams. */
  answered(): Promise<void>;
  /** Ends everything that is still open. */
  close(): Promise<void>;
};

export const createHttpServer = (deps: HttpDeps): HttpServer => {
  const { settings, observe, log } = deps;
  const context: ExchangeContext = {
    observe,
    unsent: createUnsent({ limit: settings.response_buffer_bytes, observe: observe.unsent }),
    draining: false,
    ended: log.isLevelEnabled('debug') ? requestLine(log) : undefined,
    report: (error) => log.error({ err: error }, 'a callback of a response failed'),
  };
  const gate = createGate({ limit: settings.max_concurrent_requests });
  const hub = createStreamHub({
    heartbeatMs: settings.sse_heartbeat_ms,
    maxHeldFrames: settings.sse_buffer_size,
    observe: observe.stream,
  });
  const { routes, families = [] } = deps;
  const document = openApiRoute([...routes, ...families.flatMap((family) => family.routes)], deps.openApi);
  const paths = createPaths([...groupByPath([...routes, document]), ...families.flatMap(entriesOf)]);
  const guesses = createGuesses({ token: deps.adminToken, observe: observe.adminRefused, log });
  const room = createBodyRoom({
    limit: settings.request_buffer_bytes,
    timeoutMs: settings.body_timeout_ms,
    observe: observe.received,
  });
  const answer = createPipeline({
    ...deps,
    context,
    paths,
    guesses,
    room,
    caller: createCaller({ gate, hub, log }),
  });
  const local = createFetch(answer);

  const sockets: Listening[] = [];
  const stopListening = (): void => {
    context.draining = true;
    for (const socket of sockets) socket.stop();
  };

  return {
    async listen({ uWS }, address) {
      const budget = createConnectionBudget(mostConnections(), (most) =>
        log.warn({ most }, 'new connections are closed: as many are open as the limit of open files allows'),
      );
      const socket = await (uWS
        ? listenOn(uWS, answer, address, budget)
        : listenOnNode(answer, address, budget));
      sockets.push(socket);
      return { port: socket.port };
    },
    fetch: local.fetch,
    stopListening,
    answered: gate.empty,
    async close() {
      stopListening();
      gate.close();
      room.close();
      hub.close();
      flushStreams();
      for (const socket of sockets) socket.close();
      local.close();
    },
  };
};

/** A line a request, where the log shows it: its route and never its address, which may hold what nobody may read. */
const requestLine =
  (log: Pick<HttpDeps['log'], 'debug'>) =>
  ({ requestId: request_id, method, route, status, seconds }: Exchange): void =>
    log.debug({ request_id, method, route, status, seconds }, 'request ended');
