import type { ServiceLog } from '../schema/log-events.ts';
import type { Authenticate, AuthObserver } from '../schema/presented.ts';
import type { AddReader } from '../schema/reader.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import type { Answer } from './answer.ts';
import { createBodyBudget } from './body-budget.ts';
import { createCaller } from './call.ts';
import { createEarlyRequests } from './early-requests.ts';
import type { Exchange, ExchangeContext, Observer } from './exchange.ts';
import { createGate } from './gate.ts';
import type { HostCheck } from './hosts.ts';
import type { OpenApiInfo } from './openapi.ts';
import { createPipeline } from './pipeline.ts';
import { createRepeats, type IdempotencyPort } from './repeats.ts';
import { firstRouting, hasRoute, routingOf, type Surface } from './routing.ts';
import { flushStreams } from './sse.ts';
import { createStreamHub } from './stream-hub.ts';
import type { TlsFiles } from './tls.ts';
import { createUnsent } from './unsent.ts';

/**
 * Answers requests with the routes of a table, for as long as the store behind them is open. It is independent of what
 * the routes do, and of the sockets, see `listeners.ts`.
 */

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
  /** Name of this member of a cluster, which every response states; absent outside of a cluster. */
  member?: string | undefined;
  log: ServiceLog & {
    isLevelEnabled(level: string): boolean;
  };
  openApi: OpenApiInfo;
};

export type HttpService = {
  readonly answer: Answer;
  /** Adds the rest of a partial surface, and answers the requests that wait for it. */
  complete(rest: Surface): void;
  /** Cuts the event streams off, and answers new requests with 503 until `resume`. Others in progress continue. */
  suspend(): void;
  resume(): void;
  /** Answers new requests with 503. Requests in progress continue. */
  drain(): void;
  /** Resolves when every accepted request has its response, except for streams. */
  answered(): Promise<void>;
  /** Ends the event streams, each with a complete body, and releases everything else. */
  close(): void;
};

export const createHttpService = (deps: HttpDeps): HttpService => {
  const { settings, observe, log } = deps;
  const context: ExchangeContext = {
    observe,
    unsent: createUnsent({ limit: settings.response_buffer_bytes, observe: observe.unsent }),
    draining: false,
    suspended: false,
    ended: log.isLevelEnabled('debug') ? requestLine(log) : undefined,
    report: (error) => log.error('http.response_callback_failed', { err: error }),
    member: deps.member,
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
  const drain = (): void => {
    context.draining = true;
    early.release();
  };

  return {
    answer: early.answer,
    complete(rest) {
      Object.assign(routing, routingOf({ ...rest, routes: [...deps.routes, ...rest.routes] }, deps.openApi));
      early.release();
    },
    suspend() {
      context.suspended = true;
      hub.cutOff();
    },
    resume() {
      context.suspended = false;
    },
    drain,
    answered: gate.empty,
    close() {
      drain();
      gate.close();
      bodyBudget.close();
      hub.close();
      flushStreams();
    },
  };
};

/** Logs one line per request at level debug: its route, never its actual path, which may contain secrets. */
const requestLine =
  (log: Pick<HttpDeps['log'], 'debug'>) =>
  ({ requestId: request_id, method, route, status, seconds }: Exchange): void =>
    log.debug('http.request_ended', { request_id, method, route, status, seconds });
