import type { ServiceLog } from '../schema/log-events.ts';
import type { Authenticate, AuthObserver } from '../schema/presented.ts';
import type { AddReader } from '../schema/reader.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import { createBodyBudget } from './body-budget.ts';
import { createCaller } from './call.ts';
import { createConnectionBudget, mostConnections } from './connection-budget.ts';
import { createEarlyRequests } from './early-requests.ts';
import type { Exchange, ExchangeContext, Observer } from './exchange.ts';
import { createFetch, type Local } from './fetch.ts';
import { createGate } from './gate.ts';
import type { HostCheck } from './hosts.ts';
import type { ListenAddress } from './listen-address.ts';
import { listenOnNode } from './node-socket.ts';
import type { OpenApiInfo } from './openapi.ts';
import { createPipeline } from './pipeline.ts';
import { createRepeats, type IdempotencyPort } from './repeats.ts';
import { firstRouting, hasRoute, routingOf, type Surface } from './routing.ts';
import { type Listening, listenOn } from './socket.ts';
import { flushStreams } from './sse.ts';
import { createStreamHub } from './stream-hub.ts';
import type { Tls, TlsFiles } from './tls.ts';
import { createUnsent } from './unsent.ts';
import type { HttpServerChoice } from './uws.ts';

/** Serves a route table on a socket and to embedding programs. It is independent of what the routes do. */

export type HttpDeps = Surface & {
  /** Set if these are only the first routes: requests for other paths wait for the rest, see `complete`. */
  isPartial?: true;
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
    /** Request headers that pages may send, in addition to those that every service allows. */
    cors_request_headers?: readonly string[];
    trust_forwarded_headers: boolean;
    trusted_proxies: readonly string[];
    /** If absent, connections are not encrypted. */
    tls?: TlsFiles | undefined;
  };
  /** If absent, any host is accepted. */
  acceptsHost?: HostCheck | undefined;
  /** Host of the public address; without it, clients use the address that they connect to. */
  publicHost?: string | undefined;
  /** Its origin is that of the service, whatever a request names. */
  publicUrl?: string | undefined;
  /** Whether only clients on this host can connect. */
  isLocalListener: boolean;
  authenticate: Authenticate;
  observeAuth: AuthObserver;
  /** Receives the event streams of users, which end with the rights of their principals. */
  addReader?: AddReader | undefined;
  /** If absent, requests and event streams are not limited. */
  requestLimits?: RequestLimits | undefined;
  /** If absent, keys of requests are ignored. */
  idempotency?: IdempotencyPort | undefined;
  /**
   * `request` is called when the response has ended or the client has disconnected, with the seconds until the head.
   */
  observe: Observer & {
    stream(delta: 1 | -1): void;
    unsent(bytes: number): void;
    received(bytes: number): void;
  };
  log: ServiceLog & {
    isLevelEnabled(level: string): boolean;
  };
  openApi: OpenApiInfo;
};

export type HttpServer = {
  /** Listens; port 0 selects a free one. Rejects if the address cannot be bound or a file of `tls` is unusable. */
  listen(server: HttpServerChoice, address: ListenAddress): Promise<{ port: number | undefined }>;
  /** Adds the rest of a partial surface, and answers the requests that wait for it. */
  complete(rest: Surface): void;
  /** Handles a request without a socket, even while nothing listens. */
  fetch: Local['fetch'];
  /** Accepts no new connections and answers new requests on open ones with 503. Requests in progress continue. */
  stopListening(): void;
  /** Resolves when every accepted request has its response, except for streams. */
  answered(): Promise<void>;
  /** Closes everything that is still open. */
  close(): Promise<void>;
};

export const createHttpServer = (deps: HttpDeps): HttpServer => {
  const { settings, observe, log } = deps;
  const context: ExchangeContext = {
    observe,
    unsent: createUnsent({ limit: settings.response_buffer_bytes, observe: observe.unsent }),
    draining: false,
    ended: log.isLevelEnabled('debug') ? requestLine(log) : undefined,
    report: (error) => log.error('http.response_callback_failed', { err: error }),
    isSecure: settings.tls !== undefined,
  };
  const gate = createGate({ limit: settings.max_concurrent_requests });
  const hub = createStreamHub({
    heartbeatMs: settings.sse_heartbeat_ms,
    maxHeldFrames: settings.sse_buffer_size,
    observe: observe.stream,
  });
  const routing = deps.isPartial ? firstRouting(deps.routes) : routingOf(deps, deps.openApi);
  const bodyBudget = createBodyBudget({
    limit: settings.request_buffer_bytes,
    timeoutMs: settings.body_timeout_ms,
    observe: observe.received,
  });
  const repeats = deps.idempotency && createRepeats(deps.idempotency);
  const answer = createPipeline({
    ...deps,
    scheme: settings.tls ? 'https' : 'http',
    context,
    routing,
    bodyBudget,
    caller: createCaller({ ...deps, gate, hub, limits: deps.requestLimits, repeats }),
  });
  const early = createEarlyRequests(answer, (req) => !deps.isPartial || hasRoute(routing, req));
  const local = createFetch(early.answer);

  const sockets: Listening[] = [];
  const stopListening = (): void => {
    context.draining = true;
    early.release();
    for (const socket of sockets) socket.stop();
  };

  return {
    async listen({ uWS }, address) {
      const budget = createConnectionBudget(mostConnections(), (most) =>
        log.warn('http.connection_limit', { most }),
      );
      const options = { address, budget, tls: settings.tls && (await readCertificate(settings.tls, log)) };
      const socket = await (uWS ? listenOn(uWS, early.answer, options) : listenOnNode(early.answer, options));
      sockets.push(socket);
      return { port: socket.port };
    },
    complete(rest) {
      Object.assign(routing, routingOf({ ...rest, routes: [...deps.routes, ...rest.routes] }, deps.openApi));
      early.release();
    },
    fetch: local.fetch,
    stopListening,
    answered: gate.empty,
    async close() {
      stopListening();
      gate.close();
      bodyBudget.close();
      hub.close();
      flushStreams();
      for (const socket of sockets) socket.close();
      local.close();
    },
  };
};

const readCertificate = async (files: TlsFiles, log: HttpDeps['log']): Promise<Tls> => {
  const tls = (await import('./tls.ts')).readTls(files);
  if (tls.expires.getTime() - Date.now() < EXPIRES_SOON_MS) {
    log.warn('http.certificate_expires', { file: tls.cert_file, expires: tls.expires.toISOString() });
  }
  return tls;
};

/** A certificate that expires within this time, or has expired, is reported at the start. */
const EXPIRES_SOON_MS = 14 * 24 * 3_600_000;

/** Logs one line per request at level debug: its route, never its actual path, which may contain secrets. */
const requestLine =
  (log: Pick<HttpDeps['log'], 'debug'>) =>
  ({ requestId: request_id, method, route, status, seconds }: Exchange): void =>
    log.debug('http.request_ended', { request_id, method, route, status, seconds });
