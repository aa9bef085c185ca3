import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { clientAddress } from './address.ts';
import { createAdminCheck } from './admin.ts';
import { type BodyText, isJson, readBody } from './body.ts';
import type { Call, Caller } from './call.ts';
import { isPreflight, preflight } from './cors.ts';
import { decode } from './decode.ts';
import {
  awaitAbort,
  type Exchange,
  type ExchangeContext,
  openExchange,
  peerAddress,
  sendReply,
} from './exchange.ts';
import { createRequestHeaders, headerValues, type RequestHeaders, saneRequestId } from './headers.ts';
import { type Reply, reply } from './reply.ts';
import { type Endpoint, methodLabel, type PathEntry, readParams } from './router.ts';
import { resolveScope, type ScopeProvider } from './scope.ts';

/**
 * The way of a request to its handler: preflight, method, admin bearer, scope, content type, size, decoding. The
 * first step that fails answers.
 *
 * Relies on nothing of the request after the callback of the route: what later steps need is read before, because
 * uWebSockets.js gives the request to that callback only.
 */
export type PipelineDeps = {
  context: ExchangeContext;
  caller: Caller;
  adminToken: string | undefined;
  resolveScope: ScopeProvider;
  settings: {
    body_limit_bytes: number;
    attachment_body_limit_bytes: number;
    cors_allowed_origins: readonly string[];
    trust_forwarded_headers: boolean;
  };
};

/** A request on its way: what was read of it while that was possible. */
type Arrival = Call & {
  headers: RequestHeaders;
  params: Record<string, string>;
  query: string;
  contentType: string;
  contentLength: number;
};

export const createPipeline = (deps: PipelineDeps) => {
  const { context, caller, settings } = deps;
  const checkAdmin = createAdminCheck(deps.adminToken);
  const origins = new Set(settings.cors_allowed_origins);
  const limits = { default: settings.body_limit_bytes, attachments: settings.attachment_body_limit_bytes };
  const limitOf = ({ bodyLimit = 'default' }: Endpoint): number => limits[bodyLimit];

  const deliver = (arrival: Arrival, scope: string, text: BodyText): void => {
    const { exchange, endpoint, headers } = arrival;
    if (text === undefined) {
      sendReply(exchange, tooLarge(limitOf(endpoint)));
      return;
    }
    const { params, query, body } = decode(endpoint, { ...arrival, body: text });
    caller.admit(arrival, {
      params,
      query,
      body,
      scope,
      header: headers.get,
      requestId: exchange.requestId,
      ip: () => clientAddress(headers.get, peerAddress(exchange), settings.trust_forwarded_headers),
      route: endpoint.path,
      hold: () => caller.leave(arrival),
    });
  };

  /** What the headers alone say against the body. */
  const refuseBody = ({ endpoint, contentType, contentLength }: Arrival): Reply | undefined => {
    if (!isJson(contentType)) return reply(415, { error: 'content-type must be application/json' });
    return contentLength > limitOf(endpoint) ? tooLarge(limitOf(endpoint)) : undefined;
  };

  const receive = (arrival: Arrival, scope: string): void => {
    const { exchange, endpoint } = arrival;
    if (!endpoint.body) {
      deliver(arrival, scope, '');
      return;
    }
    const refused = refuseBody(arrival);
    if (refused) {
      sendReply(exchange, refused);
      return;
    }
    readBody(exchange.res, limitOf(endpoint), (text) => {
      try {
        deliver(arrival, scope, text);
      } catch (error) {
        caller.fail(exchange, error);
      }
    });
  };

  /** The body is read while the scope is being looked for: uWebSockets.js does not offer it twice. */
  const receiveLater = async (arrival: Arrival, scope: Promise<string>): Promise<void> => {
    const { exchange, endpoint } = arrival;
    const body = endpoint.body
      ? new Promise<BodyText>((resolve) => readBody(exchange.res, limitOf(endpoint), resolve))
      : '';
    const resolved = await scope;
    const refused = endpoint.body && refuseBody(arrival);
    if (refused) sendReply(exchange, refused);
    else deliver(arrival, resolved, await body);
  };

  const authorize = (arrival: Arrival, req: HttpRequest): void => {
    const { exchange, endpoint, headers } = arrival;
    if (endpoint.scope === 'none') {
      receive(arrival, '');
      return;
    }
    if (endpoint.scope === 'admin') checkAdmin(headerValues(req, 'authorization'));
    const head = { method: exchange.method, path: req.getUrl(), header: headers.get };
    const scope = resolveScope(deps.resolveScope, endpoint.scope, head);
    if (typeof scope === 'string') receive(arrival, scope);
    else receiveLater(arrival, scope).catch((error) => caller.fail(exchange, error));
  };

  const refuse = (exchange: Exchange, entry: PathEntry | undefined, req: HttpRequest): Reply => {
    if (!entry) return reply(404, { error: `no such path: ${req.getUrl()}` });
    const { path, allow } = entry;
    return reply(405, { error: `${exchange.method} is not allowed on ${path}, only ${allow}` }, { allow });
  };

  const dispatch = (
    exchange: Exchange,
    entry: PathEntry | undefined,
    req: HttpRequest,
    headers: RequestHeaders,
  ): void => {
    const endpoint = entry?.endpoints.get(exchange.method);
    if (context.draining) sendReply(exchange, STOPPING);
    else if (isPreflight(exchange.method, headers)) sendReply(exchange, preflight(exchange.origin));
    else if (!endpoint) sendReply(exchange, refuse(exchange, entry, req));
    else authorize({ exchange, endpoint, inside: false, ...read(endpoint, req), headers }, req);
  };

  /** The callback that uWebSockets.js calls for requests on one path; without an entry, on any other. */
  return (entry: PathEntry | undefined) =>
    (res: HttpResponse, req: HttpRequest): void => {
      const headers = createRequestHeaders(req);
      const origin = req.getHeader('origin');
      const exchange = openExchange(context, res, {
        method: methodLabel(req),
        route: entry?.path ?? 'unmatched',
        origin: origins.has(origin) ? origin : '',
        requestId: saneRequestId(req.getHeader('x-request-id')),
      });
      try {
        dispatch(exchange, entry, req, headers);
      } catch (error) {
        caller.fail(exchange, error);
      }
      headers.leave(!exchange.done);
      if (!exchange.done) awaitAbort(exchange);
      exchange.corked = false;
    };
};

const read = (endpoint: Endpoint, req: HttpRequest) => ({
  params: readParams(endpoint, req),
  query: endpoint.query ? req.getQuery() : '',
  contentType: endpoint.body ? req.getHeader('content-type') : '',
  contentLength: endpoint.body ? Number(req.getHeader('content-length')) : 0,
});

const STOPPING: Reply = reply(503, { error: 'the service is stopping' }, { 'retry-after': '1' });

const tooLarge = (limit: number): Reply =>
  reply(413, { error: `request body is larger than ${limit} bytes` });
