import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { clientAddress } from './address.ts';
import { createAdminCheck } from './admin.ts';
import { type BodyText, isJson, NOT_TEXT, readBody, TOO_LARGE } from './body.ts';
import type { Call, Caller } from './call.ts';
import { createOriginCheck, isPreflight, preflight } from './cors.ts';
import { decode } from './decode.ts';
import { plainErrors, Refusal } from './errors.ts';
import {
  awaitAbort,
  type Exchange,
  type ExchangeContext,
  openExchange,
  peerAddress,
  sendReply,
} from './exchange.ts';
import { createRequestHeaders, headerValues, type RequestHeaders, saneRequestId } from './headers.ts';
import type { Mount } from './mount.ts';
import { type Endpoint, endpointOf, methodLabel, type PathEntry, readParams } from './router.ts';
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
  const admits = createOriginCheck(settings.cors_allowed_origins);
  const limits = { default: settings.body_limit_bytes, attachments: settings.attachment_body_limit_bytes };
  const limitOf = ({ bodyLimit = 'default' }: Endpoint): number => limits[bodyLimit];

  const deliver = (arrival: Arrival, scope: string, text: BodyText): void => {
    const { exchange, endpoint, headers } = arrival;
    if (text === TOO_LARGE) throw tooLarge(limitOf(endpoint));
    if (text === NOT_TEXT) throw NOT_UTF8;
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
  const checkBody = ({ endpoint, contentType, contentLength }: Arrival): void => {
    if (endpoint.reads === 'json' && !isJson(contentType)) throw NOT_JSON;
    if (contentLength > limitOf(endpoint)) throw tooLarge(limitOf(endpoint));
  };

  const receive = (arrival: Arrival, scope: string): void => {
    const { exchange, endpoint } = arrival;
    if (endpoint.reads === 'nothing') {
      deliver(arrival, scope, '');
      return;
    }
    checkBody(arrival);
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
    const reads = endpoint.reads !== 'nothing';
    const body = reads
      ? new Promise<BodyText>((resolve) => readBody(exchange.res, limitOf(endpoint), resolve))
      : '';
    const resolved = await scope;
    if (reads) checkBody(arrival);
    deliver(arrival, resolved, await body);
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

  const refusalOf = (exchange: Exchange, entry: PathEntry | undefined, req: HttpRequest): Refusal => {
    if (!entry) return new Refusal(404, `no such path: ${req.getUrl()}`);
    const { path, allow } = entry;
    return new Refusal(405, `${exchange.method} is not allowed on ${path}, only ${allow}`, { allow });
  };

  /** What a protocol makes of a request to one of its paths. */
  const findIn = (mount: Mount, exchange: Exchange, req: HttpRequest, { get }: RequestHeaders): Endpoint => {
    const head = { method: exchange.method, path: req.getUrl(), query: req.getQuery() ?? '', header: get };
    const endpoint = endpointOf(mount, mount.find(head));
    exchange.route = endpoint.path;
    return endpoint;
  };

  const dispatch = (
    exchange: Exchange,
    entry: PathEntry | undefined,
    req: HttpRequest,
    headers: RequestHeaders,
  ): void => {
    if (context.draining) throw STOPPING;
    if (isPreflight(exchange.method, headers)) {
      sendReply(exchange, preflight(exchange.origin));
      return;
    }
    const endpoint = entry?.mount
      ? findIn(entry.mount, exchange, req, headers)
      : entry?.endpoints.get(exchange.method);
    if (!endpoint) throw refusalOf(exchange, entry, req);
    authorize({ exchange, endpoint, inside: false, ...read(endpoint, req), headers }, req);
  };

  /** The callback that uWebSockets.js calls for requests on one path; without an entry, on any other. */
  return (entry: PathEntry | undefined) =>
    (res: HttpResponse, req: HttpRequest): void => {
      const headers = createRequestHeaders(req);
      const origin = req.getHeader('origin');
      const exchange = openExchange(context, res, {
        method: methodLabel(req),
        route: entry?.path ?? 'unmatched',
        errors: entry?.mount?.errors(headers.get) ?? plainErrors,
        origin: admits(origin) ? origin : '',
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
  contentType: endpoint.reads === 'json' ? req.getHeader('content-type') : '',
  contentLength: endpoint.reads === 'nothing' ? 0 : Number(req.getHeader('content-length')),
});

const STOPPING = new Refusal(503, 'the service is stopping', { 'retry-after': '1' });
const NOT_JSON = new Refusal(415, 'content-type must be application/json');
const NOT_UTF8 = new Refusal(400, 'request body is not UTF-8');

const tooLarge = (limit: number): Refusal => new Refusal(413, `request body is larger than ${limit} bytes`);
