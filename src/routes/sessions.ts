import { z } from 'zod';
import { parseJson } from '../http/body.ts';
import { NO_SESSION_COOKIE, SESSION_COOKIE, setCookie } from '../http/cookies.ts';
import { withCookies } from '../http/reply.ts';
import { type RouteRequest, reply, route } from '../http/route.ts';
import type { Browser, StartedSession } from '../identity/index.ts';
import { isObject } from '../schema/endpoint.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Invalid, Unauthorized, Unprocessable } from '../schema/outcome.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';
import { NewSession, SessionList, SignInCode } from '../schema/session.ts';
import { byOf } from './caller.ts';
import { describePrincipal } from './identity.ts';
import type { RouteDeps } from './route-deps.ts';

/** Sessions of browsers (identity.md 2.5). */

type AnyRequest = RouteRequest<unknown, unknown, unknown>;

type SessionRouteDeps = Pick<RouteDeps, 'identity' | 'accessObserver' | 'store' | 'clock' | 'signIn'>;

const SessionParams = z.object({ id: z.string().meta({ description: 'id of a session' }) });

const SessionQuery = z.object({
  user: z.string().optional().meta({ description: 'default: the caller; other users need `manage`' }),
  of_scope: z.string().optional().meta({ description: 'default: the scope of the caller; needs `admin`' }),
});

const about = { tag: 'identity', needs: 'principal' } as const;

/** A response with a session must not be stored by a cache. */
const NO_STORE = { 'cache-control': 'no-store' };

export const sessionRoutes = (deps: SessionRouteDeps) => [...ownSessionRoutes(deps), ...listRoutes(deps)];

const ownSessionRoutes = (deps: SessionRouteDeps) => [
  route.post('/v1/session', {
    ...about,
    needs: 'anyone',
    id: 'signIn',
    summary: 'Exchange the credential of this request for a session cookie',
    description:
      'The session has the rights of the credential and ends with it. Only over https: any port of a host can read the cookies of the others over http. With a body, it ends a sign-in on loopback instead, and returns the token of the session.',
    body: z.union([SignInCode, z.strictObject({})]),
    reads: 'text',
    responses: { 201: NewSession, 422: ErrorBody },
    // `body` is a string because the route reads text.
    handle: (request) => {
      const code = codeIn(String(request.body ?? ''));
      return code ? redeemCode(deps, request, code) : startSession(deps, request);
    },
  }),
  route.delete('/v1/session', {
    ...about,
    id: 'signOut',
    summary: 'End the session of this request',
    description: 'Removes the cookie too. A request without a session is rejected.',
    responses: { 204: 'signed out' },
    async handle(request) {
      await deps.identity.sessions.signOut(byOf(request));
      deps.accessObserver.signedOut(request.principal, request);
      return withCookies(reply(204), [NO_SESSION_COOKIE]);
    },
  }),
];

const listRoutes = ({ identity: { sessions }, accessObserver }: SessionRouteDeps) => [
  route.get('/v1/sessions', {
    ...about,
    id: 'listSessions',
    summary: 'Sessions of a user, newest first',
    description: 'At most 100, in one page. Ended sessions are not listed.',
    query: SessionQuery,
    responses: { 200: SessionList },
    handle: ({ principal, query }) => ({ items: sessions.list(principal, query) }),
  }),
  route.delete('/v1/sessions/:id', {
    ...about,
    id: 'endSession',
    summary: 'End a session',
    description:
      'Requests with it after the response are rejected, and its event streams end. Sessions of other users need `manage`.',
    params: SessionParams,
    responses: { 204: 'ended', 404: ErrorBody },
    async handle(request) {
      await sessions.end(byOf(request), request.params.id);
      accessObserver.signedOut(request.principal, request);
      return reply(204);
    },
  }),
];

/** @throws Invalid, Unprocessable */
const codeIn = (text: string): z.output<typeof SignInCode> | undefined => {
  const body = text === '' ? {} : parseJson(text);
  if (isObject(body) && Object.keys(body).length === 0) return undefined;
  const parsed = SignInCode.safeParse(body, phrases);
  if (!parsed.success) throw new Unprocessable(describeIssues(parsed.error));
  return parsed.data;
};

const redeemCode = async (deps: SessionRouteDeps, request: AnyRequest, code: z.output<typeof SignInCode>) => {
  const { token, principal } = await deps.signIn.redeem(code);
  deps.accessObserver.signedIn(principal, request);
  return reply(201, { token }, NO_STORE);
};

const startSession = async (deps: SessionRouteDeps, request: AnyRequest) => {
  demandCredential(request);
  demandHttps(request);
  const started = await deps.identity.sessions.start(byOf(request), browserOf(request));
  deps.accessObserver.signedIn(started.principal, request);
  return withCookies(reply(201, describePrincipal(deps, started.principal, request.origin()), NO_STORE), [
    sessionCookie(started, deps.clock.now()),
  ]);
};

/** A cookie is no credential here: a new session would need no proof that the user is present. */
const demandCredential = ({ principal, header }: AnyRequest): void => {
  if (header('authorization') === undefined || principal.credential.kind === 'anonymous') {
    throw new Unauthorized('authentication required: send the credential in the Authorization header');
  }
};

/** @throws Invalid where a session cookie would not be safe */
const demandHttps = (request: Pick<AnyRequest, 'origin'>): void => {
  if (isHttps(request)) return;
  throw new Invalid('sessions need https: over http, send the credential itself with each request');
};

const isHttps = ({ origin }: Pick<AnyRequest, 'origin'>): boolean => origin().startsWith('https:');

export const browserOf = ({ header, ip }: Pick<AnyRequest, 'header' | 'ip'>): Browser => ({
  user_agent: header('user-agent'),
  ip: ip(),
});

export const sessionCookie = ({ token, expires_at }: StartedSession, now: number): string =>
  setCookie(SESSION_COOKIE, token, Math.max(1, Math.ceil((expires_at - now) / 1000)));
