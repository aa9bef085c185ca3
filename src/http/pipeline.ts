import type { Authenticate, AuthObserver } from '../schema/presented.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import type { Answer } from './answer.ts';
import { admit, authenticate, presented } from './authorize.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Caller } from './call.ts';
import { createOriginCheck, createPreflight, isPreflight } from './cors.ts';
import { crossSite } from './cross-site.ts';
import { plainErrors, Refusal } from './errors.ts';
import { awaitAbort, type Exchange, type ExchangeContext, openExchange, sendReply } from './exchange.ts';
import { isMisframed } from './framing.ts';
import { chooseRequestId, type RequestHeaders, readHeaders } from './headers.ts';
import type { HostCheck } from './hosts.ts';
import type { Needs } from './needs.ts';
import type { Origin } from './origin.ts';
import type { Found } from './paths.ts';
import { type Arrival, KEY_HEADER, type Reception, receive, receiveLater } from './reception.ts';
import type { IdempotencyPort } from './repeats.ts';
import type { Reply } from './reply.ts';
import { allowedOn, type Endpoint, methodLabel, namedParams, type PathEntry, refusing } from './router.ts';
import type { Routing } from './routing.ts';
import { createSenders, entryOf, type SenderDeps } from './senders.ts';
import type { WireRequest } from './wire.ts';

/**
 * Takes a request to its handler: path, preflight, method, principal and its right; then `reception.ts` receives it. The
 * first step that fails sends the response.
 *
 * Relies on the request only during its callback, because uWebSockets.js invalidates it afterwards. So everything that
 * later steps need is read before the callback returns.
 */
export type PipelineDeps = SenderDeps & {
  context: ExchangeContext;
  caller: Caller;
  bodyBudget: BodyBudget;
  routing: Routing;
  /** If absent, any host is accepted. */
  acceptsHost?: HostCheck | undefined;
  authenticate: Authenticate;
  observeAuth: AuthObserver;
  requestLimits?: RequestLimits | undefined;
  idempotency?: IdempotencyPort | undefined;
  settings: {
    body_limit_bytes: number;
    attachment_body_limit_bytes: number;
    eval_body_limit_bytes: number;
    cors_allowed_origins: readonly string[];
    /** Request headers that pages may send, in addition to those that every service allows. */
    cors_request_headers?: readonly string[];
  };
};

type Pipeline = PipelineDeps & Reception & { preflight: ReturnType<typeof createPreflight> };

export const createPipeline = (deps: PipelineDeps): Answer => {
  const { context, caller, settings } = deps;
  const senders = createSenders(deps);
  const admits = createOriginCheck(settings.cors_allowed_origins);
  const limits = {
    default: settings.body_limit_bytes,
    attachments: settings.attachment_body_limit_bytes,
    evals: settings.eval_body_limit_bytes,
  };
  const preflight = createPreflight(settings.cors_request_headers);
  const pipeline: Pipeline = { ...deps, senders, limits, preflight };

  /** Handles a request. Everything except its body is read before this function returns. */
  return (res, req, from) => {
    const method = methodLabel(req);
    const headers = readHeaders(req, () => senders.isTrusted(res, from));
    if (from.from === 'network' && isMisframed(headers)) {
      res.close();
      context.observe.request(method, 'unmatched', 400, 0);
      return;
    }
    const path = req.getUrl();
    const origin = headers.get('origin') ?? '';
    const found = deps.routing.paths.find(path, method);
    const exchange = openExchange(context, res, {
      method,
      route: found?.entry.path ?? 'unmatched',
      errors:
        found?.entry.family?.errors({ header: headers.get, origin: () => senders.originOf(from, headers) }) ??
        plainErrors,
      processingHeader: found?.entry.family?.processingHeader,
      origin: admits(origin) ? origin : '',
      requestId: chooseRequestId(headers.get('x-request-id') ?? ''),
      isSecure: (entryOf(from)?.scheme ?? deps.scheme) === 'https',
    });
    try {
      dispatch(pipeline, { exchange, found, req, path, from, headers });
    } catch (error) {
      caller.fail(exchange, error);
    }
    if (!exchange.done) awaitAbort(exchange);
    exchange.corked = false;
  };
};

/** Valid only during the callback of the request. */
type Incoming = {
  exchange: Exchange;
  found: Found<PathEntry> | undefined;
  req: WireRequest;
  path: string;
  from: Origin;
  headers: RequestHeaders;
};

const dispatch = (pipeline: Pipeline, incoming: Incoming): void => {
  const { exchange, found, headers } = incoming;
  checkHost(pipeline, incoming);
  const refusal = unavailable(pipeline.context);
  if (refusal) {
    exchange.isUntouched = true;
    throw refusal;
  }
  if (isPreflight(exchange.method, headers)) {
    sendReply(exchange, pipeline.preflight(exchange.origin));
    return;
  }
  const endpoint = findEndpoint(pipeline, incoming);
  if (endpoint) {
    authorize(pipeline, readArrival(pipeline, incoming, endpoint), incoming);
    return;
  }
  const page = found ? undefined : readUnrouted(pipeline, incoming);
  if (!page) throw createRefusal(pipeline, incoming);
  sendReply(exchange, page);
};

/** A foreign host is rejected before anything else is checked. */
const checkHost = ({ acceptsHost }: Pipeline, { found, from, headers }: Incoming): void => {
  if (from.from !== 'network' || found?.entry.family?.checkHost) return;
  const host = headers.get('host') ?? '';
  const isAccepted = from.entry?.isHostAccepted ?? (!acceptsHost || acceptsHost(host));
  if (!isAccepted) throw foreign(host);
};

/** Returns the route, or for a request that its family refuses, an endpoint that does so once its principal is known. */
const findEndpoint = (
  { routing: { paths } }: Pipeline,
  { exchange: { method }, found, req, path, from, headers: { get: header } }: Incoming,
): Endpoint | undefined => {
  const route = found?.entry.endpoints.get(method);
  const family = found?.entry.family;
  if (!family) return route;
  const { path: label } = found.entry;
  const foreignHost = family.checkHost?.(header('host'), entryOf(from));
  if (foreignHost) return failing(label, 'nothing', foreignHost);
  const problem = family.check?.({ query: req.getQuery() ?? '', header });
  if (problem) return failing(label, family.needs, problem);
  if (route) return route;
  const allowed = allowedOn(paths, path);
  return refusing(label, family.needs, () => family.refuse({ method, path, allowed }));
};

const failing = (label: string, needs: Needs, problem: Error): Endpoint =>
  refusing(label, needs, () => {
    throw problem;
  });

const readArrival = (
  { senders }: Pipeline,
  { exchange, found, req, path, from, headers }: Incoming,
  endpoint: Endpoint,
): Arrival => {
  const family = found?.entry.family;
  const isByProgram = from.from === 'program';
  return {
    exchange,
    endpoint,
    inside: false,
    params: namedParams(endpoint, found?.values ?? []),
    query: endpoint.query ? (req.getQuery() ?? '') : '',
    target:
      endpoint.idempotent && headers.get(KEY_HEADER) !== undefined ? `${path}?${req.getQuery() ?? ''}` : '',
    contentType:
      endpoint.reads === 'json' || endpoint.reads === 'stream' ? (headers.get('content-type') ?? '') : '',
    contentEncoding: endpoint.reads === 'nothing' ? '' : (headers.get('content-encoding') ?? ''),
    contentLength: endpoint.reads === 'nothing' ? 0 : Number(headers.get('content-length') ?? 0),
    headers,
    session:
      isByProgram || headers.lines('authorization').length > 0 ? undefined : senders.sessionOf(from, headers),
    from,
    isCrossSite: senders.isCrossSite(exchange, { family, from, headers }),
  };
};

const authorize = (pipeline: Pipeline, arrival: Arrival, { path, req }: Incoming): void => {
  const { exchange, endpoint, headers, from } = arrival;
  const { surface } = endpoint.door;
  // A page cannot make a browser send a request that an `Authorization` header authenticates.
  const isByHeader = surface !== undefined && headers.get('authorization') !== undefined;
  const isByCookie = surface !== undefined && arrival.session !== undefined;
  const isForeign = isByCookie && pipeline.senders.isForeignToCookie(exchange, headers);
  if (isForeign || (arrival.isCrossSite && !isByHeader)) throw crossSite(headers.get('origin') ?? '');
  if (surface === undefined || endpoint.hasOwnCredential?.(headers.get, arrival.query)) {
    receive(pipeline, arrival, undefined);
    return;
  }
  exchange.confidential = surface === 'admin';
  if (from.from === 'program') {
    admit(arrival, from.principal);
    receive(pipeline, arrival, from.principal);
    return;
  }
  const admitted = authenticate(pipeline, arrival, presented(pipeline, arrival, { surface, path, req }));
  if (admitted instanceof Promise) {
    receiveLater(pipeline, arrival, admitted).catch((error) => pipeline.caller.fail(exchange, error));
  } else receive(pipeline, arrival, admitted);
};

const readUnrouted = (
  { routing: { unrouted } }: Pipeline,
  { exchange, path, headers: { get: header } }: Incoming,
): Reply | undefined => {
  for (const { label, answer } of unrouted) {
    const page = answer({ method: exchange.method, path, header });
    if (!page) continue;
    exchange.route = label;
    return page;
  }
  return undefined;
};

const createRefusal = ({ routing: { paths } }: Pipeline, { exchange, found, path }: Incoming): Refusal => {
  if (!found) return new Refusal(404, `no such path: ${path}${path === '/' ? ENTRANCES : ''}`);
  const allow = allowedOn(paths, path).join(', ');
  return new Refusal(405, `${exchange.method} is not allowed on ${found.entry.path}, only ${allow}`, {
    allow,
  });
};

/** The console is at `/`, but only for clients that accept HTML. */
const ENTRANCES = '; the manual is at /docs, the description of the API at /openapi.json';

const unavailable = ({ draining, suspended }: ExchangeContext): Refusal | undefined => {
  if (draining) return STOPPING;
  return suspended ? SUSPENDED : undefined;
};

const STOPPING = new Refusal(503, 'the service is stopping', { 'retry-after': '1' });

const SUSPENDED = new Refusal(503, 'nothing can be stored now; try again', { 'retry-after': '1' });

const foreign = (host: string): Refusal =>
  new Refusal(
    403,
    `requests for the host '${host}' are rejected; if it is a name of this service, add it to allowed_hosts ` +
      '(SERVICE_ALLOWED_HOSTS)',
  );
