import { reply, route } from '../http/route.ts';
import { commonGrants } from '../schema/grants.ts';
import { NOBODY, type Principal } from '../schema/principal.ts';
import type { IdentityChange } from '../schema/user.ts';
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
  { store, signIn }: Pick<RouteDeps, 'store' | 'signIn'>,
  principal: Principal,
  origin: string,
): Who => {
  const sign_in = signIn.ways(origin);
  if (principal === NOBODY) return { authenticated: false, anonymous: false, grants: [], sign_in };
  const { scope, user, authority, credential } = principal;
  const { kind, id } = credential;
  const record = user === undefined ? undefined : store.users.get(scope, user);
  const name = record?.name;
  const identity_changed = noticeOf(store, principal, record?.identity_written);
  return {
    authenticated: kind !== 'anonymous',
    anonymous: kind === 'anonymous',
    scope,
    ...(user !== undefined && { user }),
    ...(name !== undefined && { name }),
    grants: commonGrants(authority),
    ...(kind !== 'anonymous' && { credential: { kind, ...(id !== undefined && { id }) } }),
    ...(identity_changed && { identity_changed }),
    sign_in,
  };
};

const NOTICE_MS = 30 * 86_400_000;

/** A user is notified with each sign-in for a while: the first one may be that of the other account. */
const noticeOf = (
  { sessions }: Pick<RouteDeps['store'], 'sessions'>,
  { credential: { kind, id = '' } }: Principal,
  change: IdentityChange | undefined,
): IdentityChange | undefined => {
  if (!change || kind !== 'session') return undefined;
  const since = (sessions.get(id)?.created_at ?? 0) - change.at;
  return since >= 0 && since < NOTICE_MS ? change : undefined;
};
