import { inOwnTurn as waitForTurn } from '../schema/turns.ts';
import { type BodyText, isJson, type Reading, readBody, tooLarge } from './body.ts';
import type { BodyRoom } from './body-room.ts';
import type { Call, Caller } from './call.ts';
import { createOriginCheck, isPreflight, preflight } from './cors.ts';
import { crossSite } from './cross-site.ts';
import { type Decoded, decode, readAs } from './decode.ts';
import { plainErrors, Refusal } from './errors.ts';
import {
  awaitAbort,
  type Exchange,
  type ExchangeContext,
  openExchange,
  sendReply,
  tellWhenGone,
} from './exchange.ts';
import type { Family } from './family.ts';
import { isMisframed } from './framing.ts';
import { createRequestHeaders, type RequestHeaders, requestIdOf } from './headers.ts';
import type { HostCheck } from './hosts.ts';
import type { Origin } from './origin.ts';
import type { Found, Paths } from './paths.ts';
import { allowedOn, type Endpoint, methodLabel, namedParams, type PathEntry, refusing } from './router.ts';
import { resolveScope, type ScopeProvider } from './scope.ts';
import { createSenders, type SenderDeps } from './senders.ts';
import type { Unrouted } from './unrouted.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/**
 * The way of a request to its handler: path, preflight, method, admin bearer, scope, content type, size, decoding. The
 * first step that fails answers.
 *
 * Relies on nothing of the request after its callback: what later steps need is read before, because uWebSockets.js
 * gives the request to that callback only.
 */
export type PipelineDeps = SenderDeps & {
  context: ExchangeContext;
  caller: Caller;
  room: BodyRoom;
  paths: Paths<PathEntry>;
  /** Missing: a path that no route has is refused. */
  unrouted?: Unrouted | undefined;
  /** Missing: a request may name any host. */
  acceptsHost?: HostCheck | undefined;
  resolveScope: ScopeProvider;
  settings: {
    body_limit_bytes: number;
    attachment_body_limit_bytes: number;
    eval_body_limit_bytes: number;
    cors_allowed_origins: readonly string[];
  };
};

/** A request on its way: what was read of it while that was possible. */
type Arrival = Call & {
  from: Origin;
  /** A page of another site makes a browser send it, and it would change something. */
  isCrossSite: boolean;
  headers: RequestHeaders;
  params: Record<string, string>;
  query: string;
  contentType: string;
  contentEncoding: string;
  contentLength: number;
};

export const createPipeline = (deps: PipelineDeps) => {
  const { context, caller, settings } = deps;
  const senders = createSenders(deps);
  const admits = createOriginCheck(settings.cors_allowed_origins);
  const limits = {
    default: settings.body_limit_bytes,
    attachments: settings.attachment_body_limit_bytes,
    evals: settings.eval_body_limit_bytes,
  };
  const limitOf = ({ bodyLimit = 'default' }: Endpoint): number => limits[bodyLimit];

  const deliver = (arrival: Arrival, scope: string, text: BodyText): void => {
    if (text instanceof Refusal) throw text;
    if (text.length > LONG) readLater(arrival, scope, text);
    else call(arrival, decode(arrival.endpoint, { ...arrival, body: readAs(arrival.endpoint, text) }), scope);
  };

  /** A long body: made JSON of, checked, and handled, one after the other, and other requests between them. */
  const readLater = (arrival: Arrival, scope: string, text: string): void =>
    inOwnTurn(arrival, () => decodeLater(arrival, scope, readAs(arrival.endpoint, text)));

  const decodeLater = (arrival: Arrival, scope: string, body: unknown): void =>
    inOwnTurn(arrival, () => callLater(arrival, decode(arrival.endpoint, { ...arrival, body }), scope));

  const callLater = (arrival: Arrival, decoded: Decoded, scope: string): void =>
    inOwnTurn(arrival, () => call(arrival, decoded, scope));

  /** Not for a client that has gone meanwhile. */
  const inOwnTurn = ({ exchange }: Arrival, work: () => void): void =>
    waitForTurn(() => {
      try {
        if (!exchange.done) work();
      } catch (error) {
        caller.fail(exchange, error);
      }
    });

  /** A wrong token counts as a guess, as it does on admin routes. */
  const isAdmin = ({ exchange, from, headers }: Arrival): boolean => {
    if (from.from === 'program') return true;
    if (!headers.has('authorization')) return false;
    try {
      senders.checkAdmin(exchange, headers);
      return true;
    } catch {
      return false;
    }
  };

  const call = (arrival: Arrival, { params, query, body }: Decoded, scope: string): void => {
    const { exchange, endpoint, headers } = arrival;
    caller.admit(arrival, {
      params,
      query,
      body,
      scope,
      header: headers.get,
      requestId: exchange.requestId,
      names: headers.has,
      ip: () => senders.addressOf(exchange, headers),
      route: endpoint.path,
      isAdmin: () => isAdmin(arrival),
      hold: () => caller.leave(arrival),
      onGone: (listener) => tellWhenGone(exchange, listener),
    });
  };

  /** What the headers alone say against the body. */
  const checkBody = ({ endpoint, contentType, contentEncoding, contentLength }: Arrival): void => {
    if (endpoint.reads === 'json' && !isJson(contentType)) throw NOT_JSON;
    if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity')
      throw encoded(contentEncoding);
    if (contentLength > limitOf(endpoint)) throw tooLarge(limitOf(endpoint));
  };

  const readingOf = ({ exchange, endpoint }: Arrival): Reading => ({
    limit: limitOf(endpoint),
    room: deps.room,
    isOver: () => exchange.done,
    onGone(listener) {
      exchange.onGone = listener;
    },
  });

  const receive = (arrival: Arrival, scope: string): void => {
    const { exchange, endpoint } = arrival;
    if (endpoint.reads === 'nothing') {
      deliver(arrival, scope, '');
      return;
    }
    checkBody(arrival);
    readBody(exchange.res, readingOf(arrival), (text) => {
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
      ? new Promise<BodyText>((resolve) => readBody(exchange.res, readingOf(arrival), resolve))
      : '';
    const resolved = await scope;
    if (reads) checkBody(arrival);
    deliver(arrival, resolved, await body);
  };

  const authorize = (arrival: Arrival, req: WireRequest): void => {
    const { exchange, endpoint, headers, from } = arrival;
    // What an admin token authenticates is nothing that a page could have made a browser send.
    const isByToken = endpoint.scope === 'admin' && headers.get('authorization') !== undefined;
    if (arrival.isCrossSite && !isByToken) throw crossSite(headers.get('origin') ?? '');
    if (endpoint.scope === 'none') {
      receive(arrival, '');
      return;
    }
    exchange.confidential = endpoint.scope === 'admin';
    const isTrusted = from.from === 'program';
    if (endpoint.scope === 'admin' && !isTrusted) senders.checkAdmin(exchange, headers);
    const head = { method: exchange.method, path: req.getUrl(), header: headers.get };
    const provider = isTrusted ? () => from.scope : deps.resolveScope;
    const scope = resolveScope(provider, endpoint.scope, head);
    if (typeof scope === 'string') receive(arrival, scope);
    else receiveLater(arrival, scope).catch((error) => caller.fail(exchange, error));
  };

  const refusalOf = (exchange: Exchange, found: Found<PathEntry> | undefined, req: WireRequest): Refusal => {
    if (!found) return new Refusal(404, `no such path: ${req.getUrl()}`);
    const { path } = found.entry;
    const allow = allowedOn(deps.paths, req.getUrl()).join(', ');
    return new Refusal(405, `${exchange.method} is not allowed on ${path}, only ${allow}`, { allow });
  };

  const offRoutes = (exchange: Exchange, req: WireRequest, { get: header }: RequestHeaders) => {
    const { unrouted } = deps;
    const page = unrouted?.answer({ method: exchange.method, path: req.getUrl(), header });
    if (unrouted && page) exchange.route = unrouted.label;
    return page;
  };

  /** The route of a protocol, or what it says instead. */
  const inFamily = (
    family: Family,
    { exchange, found, route }: { exchange: Exchange; found: Found<PathEntry>; route: Endpoint | undefined },
    req: WireRequest,
    { get: header }: RequestHeaders,
  ): Endpoint => {
    const path = req.getUrl();
    const { method } = exchange;
    const label = found.entry.path;
    const problem = family.check?.({ query: req.getQuery() ?? '', header });
    if (problem) {
      return refusing(label, family.scope, () => {
        throw problem;
      });
    }
    if (route) return route;
    const allowed = allowedOn(deps.paths, path);
    return refusing(label, family.scope, () => family.refuse({ method, path, allowed }));
  };

  /** What makes a request nobody's business, whatever it asks for. */
  const checkHost = (family: Family | undefined, from: Origin, req: WireRequest): void => {
    const host = req.getHeader('host');
    const isChecked = from.from === 'network' && !family?.checksHost;
    if (isChecked && deps.acceptsHost && !deps.acceptsHost(host)) throw foreign(host);
  };

  const dispatch = (
    exchange: Exchange,
    found: Found<PathEntry> | undefined,
    req: WireRequest,
    from: Origin,
    headers: RequestHeaders,
  ): void => {
    const family = found?.entry.family;
    checkHost(family, from, req);
    if (context.draining) throw STOPPING;
    if (isPreflight(exchange.method, headers)) {
      sendReply(exchange, preflight(exchange.origin));
      return;
    }
    const route = found?.entry.endpoints.get(exchange.method);
    const endpoint = found && family ? inFamily(family, { exchange, found, route }, req, headers) : route;
    if (!endpoint) {
      const page = found ? undefined : offRoutes(exchange, req, headers);
      if (!page) throw refusalOf(exchange, found, req);
      sendReply(exchange, page);
      return;
    }
    const params = namedParams(endpoint, found?.values ?? []);
    const isCrossSite = senders.isCrossSite(exchange, { family, from, headers });
    const call = { exchange, endpoint, inside: false };
    authorize({ ...call, params, ...read(endpoint, req), headers, from, isCrossSite }, req);
  };

  /** Answers a request; everything of it is read before this returns, apart from its body. */
  return (res: WireResponse, req: WireRequest, from: Origin): void => {
    const method = methodLabel(req);
    if (from.from === 'network' && isMisframed(req)) {
      res.close();
      context.observe.request(method, 'unmatched', 400, 0);
      return;
    }
    const headers = createRequestHeaders(req, () => senders.isTrusted(res, from));
    const origin = req.getHeader('origin');
    const found = deps.paths.find(req.getUrl(), method);
    const exchange = openExchange(context, res, {
      method,
      route: found?.entry.path ?? 'unmatched',
      errors: found?.entry.family?.errors(headers.get) ?? plainErrors,
      origin: admits(origin) ? origin : '',
      requestId: requestIdOf(req.getHeader('x-request-id')),
    });
    try {
      dispatch(exchange, found, req, from, headers);
    } catch (error) {
      caller.fail(exchange, error);
    }
    headers.leave(!exchange.done);
    if (!exchange.done) awaitAbort(exchange);
    exchange.corked = false;
  };
};

export type Answer = ReturnType<typeof createPipeline>;

const read = (endpoint: Endpoint, req: WireRequest) => ({
  query: endpoint.query ? (req.getQuery() ?? '') : '',
  contentType: endpoint.reads === 'json' ? req.getHeader('content-type') : '',
  contentEncoding: endpoint.reads === 'nothing' ? '' : req.getHeader('content-encoding'),
  contentLength: endpoint.reads === 'nothing' ? 0 : Number(req.getHeader('content-length')),
});

/** Characters of a body that is worth turns of its own: what is shorter takes a few milliseconds, whatever it is. */
const LONG = 32 * 1024;

const STOPPING = new Refusal(503, 'the service is stopping', { 'retry-after': '1' });
const encoded = (coding: string): Refusal =>
  new Refusal(415, `content-encoding '${coding}' is not supported: send the body as it is`, {
    'accept-encoding': 'identity',
  });

const foreign = (host: string): Refusal =>
  new Refusal(
    403,
    `requests for the host '${host}' are refused here; if it is a name of this service, add it to allowed_hosts ` +
      '(SERVICE_ALLOWED_HOSTS)',
  );

const NOT_JSON = new Refusal(415, 'content-type must be application/json');
