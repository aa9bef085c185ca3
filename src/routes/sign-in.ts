import { z } from 'zod';
import { readCookie, setCookie } from '../http/cookies.ts';
import { type Reply, withCookies } from '../http/reply.ts';
import { type RouteRequest, reply, route } from '../http/route.ts';
import { SignInFailed } from '../identity/sign-in/provider.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { RouteDeps } from './route-deps.ts';
import { browserOf, sessionCookie } from './sessions.ts';

/** Sign-in with OpenID providers (identity.md 2.6). */

type SignInRouteDeps = Pick<RouteDeps, 'signIn' | 'accessObserver' | 'clock'>;

const ATTEMPT_COOKIE = '__Host-troupe_sign_in';
const ATTEMPT_SECS = 600;

const Params = z.object({ issuer: z.string().meta({ description: 'id of an issuer of the settings' }) });

const BeginQuery = z.object({
  return_to: z.string().optional().meta({ description: 'path of this service to return to; default: `/`' }),
  challenge: z.string().optional().meta({
    description: 'on loopback over http: SHA-256 of the verifier of the page, in base64url',
  }),
});

const CallbackQuery = z.looseObject({
  code: z.string().optional().meta({ description: 'code of the provider, valid once' }),
  state: z.string().optional().meta({ description: 'of the attempt' }),
  iss: z.string().optional().meta({ description: 'the issuer that responds (RFC 9207)' }),
  error: z.string().optional().meta({ description: 'why the provider refused, instead of `code`' }),
});

const about = { tag: 'identity', needs: 'nothing', params: Params } as const;

export const signInRoutes = (deps: SignInRouteDeps) => [
  route.get('/v1/session/sign-in/:issuer', {
    ...about,
    id: 'beginSignIn',
    summary: 'Sign in with an identity provider',
    description:
      'Redirects the browser to the provider: authorization code with PKCE. Over http on loopback only, with `challenge`.',
    query: BeginQuery,
    responses: { 302: 'to the provider', 303: 'to `/sign-in?error=provider`', 404: ErrorBody },
    handle: (request) =>
      withFailures(deps, request, async () => {
        const { issuer } = request.params;
        const { location, sealed } = await deps.signIn.begin(issuer, {
          origin: request.origin(),
          return_to: request.query.return_to,
          challenge: request.query.challenge,
        });
        const cookie = sealed === undefined ? [] : [setCookie(ATTEMPT_COOKIE, sealed, ATTEMPT_SECS)];
        return withCookies(redirect(302, location), cookie);
      }),
  }),
  route.get('/v1/session/callback/:issuer', {
    ...about,
    id: 'endSignIn',
    summary: 'End a sign-in',
    description:
      'The provider sends the browser here. After a failure, `error` is `denied`, `expired`, `mismatch`, `provider` or `not_allowed`.',
    query: CallbackQuery,
    responses: { 303: 'to the page that the user came from, or `/sign-in?error=…`', 404: ErrorBody },
    handle: (request) =>
      withFailures(deps, request, async () => {
        const { location, session } = await deps.signIn.end(request.params.issuer, {
          origin: request.origin(),
          answer: answerOf(request.query),
          sealed: readCookie(request.header('cookie'), ATTEMPT_COOKIE),
          browser: browserOf(request),
        });
        if (!session) return redirect(303, location);
        deps.accessObserver.signedIn(session.principal, request);
        return withCookies(redirect(303, location), [sessionCookie(session, deps.clock.now()), NO_ATTEMPT]);
      }),
  }),
];

const NO_ATTEMPT = setCookie(ATTEMPT_COOKIE, '', 0);

const redirect = (status: 302 | 303, location: string): Reply =>
  reply(status, undefined, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });

const answerOf = (query: z.output<typeof CallbackQuery>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );

const withFailures = async (
  { accessObserver }: SignInRouteDeps,
  request: Pick<RouteRequest<unknown, unknown, unknown>, 'route' | 'ip'>,
  work: () => Promise<Reply>,
): Promise<Reply> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SignInFailed)) throw error;
    accessObserver.signInFailed({ reason: error.reason }, request);
    return withCookies(redirect(303, `/sign-in?error=${error.reason}`), [NO_ATTEMPT]);
  }
};
