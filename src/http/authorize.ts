import { Unauthorized } from '../schema/outcome.ts';
import type { Authenticate, AuthObserver, Presented, Surface } from '../schema/presented.ts';
import { NOBODY, type Principal } from '../schema/principal.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import { NO_SESSION_COOKIE } from './cookies.ts';
import { crossSite } from './cross-site.ts';
import { parseQuery } from './query.ts';
import type { Arrival, Reception } from './reception.ts';
import type { WireRequest } from './wire.ts';

/** Resolves whom a request acts for, and checks the right that its route needs before the body is read. */

/** Resolves the principal and checks its right. @throws Unauthorized, Forbidden, RateLimited */
export const authenticate = (
  pipeline: {
    authenticate: Authenticate;
    observeAuth: AuthObserver;
    requestLimits?: RequestLimits | undefined;
  },
  arrival: Arrival,
  request: Presented,
): Principal | Promise<Principal> => {
  const { observeAuth } = pipeline;
  const finish = (principal: Principal): Principal => {
    try {
      pipeline.requestLimits?.request(principal, { path: arrival.endpoint.path, params: arrival.params });
      admit(arrival, principal);
    } catch (error) {
      observeAuth.rejected(principal, error, request);
      throw error;
    }
    observeAuth.admitted(principal, request);
    return principal;
  };
  const recover = (error: unknown, lines: readonly string[]): Principal => {
    reject(pipeline, arrival, { lines, request, error });
    const isEnded = arrival.session !== undefined && error instanceof Unauthorized;
    if (isEnded && arrival.endpoint.offersSignIn) return NOBODY;
    throw error;
  };
  let principal: Principal | Promise<Principal>;
  try {
    principal = pipeline.authenticate(request);
  } catch (error) {
    principal = recover(error, presentedLines(request));
  }
  if (!(principal instanceof Promise)) return finish(principal);
  // Read now, because a request is valid only during its callback.
  const lines = presentedLines(request);
  return principal.catch((error) => recover(error, lines)).then(finish);
};

const reject = (
  { observeAuth }: { observeAuth: AuthObserver },
  { exchange, session }: Arrival,
  { lines, request, error }: { lines: readonly string[]; request: Presented; error: unknown },
): void => {
  observeAuth.rejected(lines, error, request);
  // Otherwise the browser would send the ended session with each further request, such as that for the ways to sign in.
  if (session !== undefined && error instanceof Unauthorized) exchange.cookies = [NO_SESSION_COOKIE];
};

/** A ticket and a cookie are read as tokens of a bearer; their values are not needed. */
const presentedLines = (request: Presented): readonly string[] => {
  const lines = request.authorization();
  if (lines.length > 0) return lines;
  if (request.ticket() !== undefined) return ['Bearer tpt_'];
  return request.session() === undefined ? lines : ['Bearer tps_'];
};

export const presented = (
  { senders }: Pick<Reception, 'senders'>,
  { exchange, endpoint, headers, from, session }: Arrival,
  { surface, path, req }: { surface: Surface; path: string; req: WireRequest },
): Presented => ({
  surface,
  isOptional: endpoint.door.isOptional,
  method: exchange.method,
  route: endpoint.path,
  path,
  header: headers.get,
  authorization: () => headers.lines('authorization'),
  ticket: () => ticketIn(req.getQuery() ?? ''),
  session: () => session,
  isLocal: () => senders.isLocal(from, headers),
  address: () => senders.addressOf(exchange, headers),
});

const ticketIn = (query: string): string | undefined =>
  query.includes('ticket=') ? parseQuery(query).ticket : undefined;

/** @throws Forbidden */
export const admit = ({ endpoint, params, headers, isCrossSite }: Arrival, principal: Principal): void => {
  const isAnonymous = principal.credential.kind === 'anonymous';
  // A header that did not authenticate the request proves nothing.
  if (isCrossSite && isAnonymous) throw crossSite(headers.get('origin') ?? '');
  if (!(endpoint.anonymous && isAnonymous)) endpoint.door.check(principal, params);
};
