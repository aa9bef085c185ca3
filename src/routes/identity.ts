import { reply, route } from '../http/route.ts';
import { commonGrants } from '../schema/grants.ts';
import { NOBODY, type Principal } from '../schema/principal.ts';
import { Who } from '../schema/who.ts';
import type { RouteDeps } from './route-deps.ts';

/** The principal of a request (identity.md 2.4). */
export const identityRoutes = (deps: Pick<RouteDeps, 'store' | 'signIn'>) => [
  route.get('/v1/identity', {
    id: 'getIdentity',
    summary: 'Whom this request acts for',
    description:
      'Without a credential, `authenticated` is false, and `anonymous` reports whether the service serves such requests. A bad credential is rejected.',
    tag: 'identity',
    needs: 'anyone',
    responses: { 200: Who },
    handle: ({ principal, origin }) =>
      reply(200, describePrincipal(deps, principal, origin()), { 'cache-control': 'no-store' }),
  }),
];

export const describePrincipal = (
  { store: { users }, signIn }: Pick<RouteDeps, 'store' | 'signIn'>,
  principal: Principal,
  origin: string,
): Who => {
  const sign_in = signIn.ways(origin);
  if (principal === NOBODY) return { authenticated: false, anonymous: false, grants: [], sign_in };
  const { scope, user, authority, credential } = principal;
  const { kind, id } = credential;
  const name = user === undefined ? undefined : users.get(scope, user)?.name;
  return {
    authenticated: kind !== 'anonymous',
    anonymous: kind === 'anonymous',
    scope,
    ...(user !== undefined && { user }),
    ...(name !== undefined && { name }),
    grants: commonGrants(authority),
    ...(kind !== 'anonymous' && { credential: { kind, ...(id !== undefined && { id }) } }),
    sign_in,
  };
};
