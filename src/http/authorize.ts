import type { Authenticate, AuthObserver, Presented, Surface } from '../schema/presented.ts';
import type { Principal } from '../schema/principal.ts';
import type { RequestLimits } from '../schema/request-limits.ts';
import { crossSite } from './cross-site.ts';
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
  let principal: Principal | Promise<Principal>;
  try {
    principal = pipeline.authenticate(request);
  } catch (error) {
    observeAuth.rejected(request.authorization(), error, request);
    throw error;
  }
  if (!(principal instanceof Promise)) return finish(principal);
  // Read now, because a request is valid only during its callback.
  const authorization = request.authorization();
  return principal.then(finish, (error) => {
    observeAuth.rejected(authorization, error, request);
    throw error;
  });
};

export const presented = (
  { senders }: Pick<Reception, 'senders'>,
  { exchange, endpoint, headers, from }: Arrival,
  { surface, req }: { surface: Surface; req: WireRequest },
): Presented => ({
  surface,
  isOptional: endpoint.door.isOptional,
  method: exchange.method,
  route: endpoint.path,
  path: req.getUrl(),
  header: headers.get,
  authorization: () => headers.lines('authorization'),
  isLocal: () => senders.isLocal(from, req),
  address: () => senders.addressOf(exchange, headers),
});

/** @throws Forbidden */
export const admit = ({ endpoint, params, headers, isCrossSite }: Arrival, principal: Principal): void => {
  const isAnonymous = principal.credential.kind === 'anonymous';
  // A header that did not authenticate the request proves nothing.
  if (isCrossSite && isAnonymous) throw crossSite(headers.get('origin') ?? '');
  if (!(endpoint.anonymous && isAnonymous)) endpoint.door.check(principal, params);
};
