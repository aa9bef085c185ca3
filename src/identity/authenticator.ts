import { Unauthorized } from '../schema/outcome.ts';
import type { Authenticate, Presented, Surface } from '../schema/presented.ts';
import { adminIn, anonymousIn, NOBODY, type Principal } from '../schema/principal.ts';
import { type Bearer, readBearer } from './bearer.ts';
import { INVALID_CREDENTIAL as INVALID, type Judge, type JudgedPrincipal } from './credentials/judge.ts';
import { KEY_PREFIX, SESSION_PREFIX } from './credentials/key-format.ts';
import { type Guesses, SHORT_TOKEN } from './guesses.ts';
import { isCompactToken, type JudgeToken } from './issuers/index.ts';
import { type RequestHead, resolveScope, type ScopeProvider } from './scope.ts';
import { type ActFor, USER_HEADER, userHeaderOf } from './service-user.ts';
import type { SessionJudge } from './sessions/judge-session.ts';
import type { Tickets } from './tickets.ts';
import { createTokenCheck } from './token.ts';

/**
 * Resolves whom a request acts for (identity.md 3.1, 3.2). Exactly one credential is judged, and a bad one never falls
 * back to another. Resolves synchronously, except while a hook of the
 * embedding program, the keys of an issuer or a new user is awaited.
 */
export type AuthenticatorDeps = {
  /** If absent, the admin surface is closed. */
  adminToken: string | undefined;
  /** Scope of the admin token and of requests without a credential, unless `resolveScope` is given. */
  scope_id: string;
  /** A credential of another scope than the one that it returns is rejected. */
  resolveScope?: ScopeProvider | undefined;
  /** Judges a request before its credentials are; `undefined` leaves them to this service. */
  authenticate?: PrincipalProvider | undefined;
  anonymous: AnonymousAccess;
  guesses: Guesses;
  /** Judges API keys. @throws Unauthorized */
  judgeKey: Judge;
  /** Judges sessions. @throws Unauthorized */
  judgeSession: SessionJudge['judge'];
  /** Judges the ticket of an event stream. @throws Unauthorized */
  judgeTicket: Tickets['judge'];
  /** Judges access tokens of identity providers; absent without issuers. */
  judgeAccessToken?: JudgeToken | undefined;
  /** Resolves the end user that a principal names in a header. */
  actFor: ActFor;
  /** Returns the end user that a front end names on a route in its own header (openai.md 2.6). */
  frontEndUser?: ((presented: Pick<Presented, 'route' | 'header'>) => string | undefined) | undefined;
};

/** Where requests without a credential may invoke agents. */
export type AnonymousAccess = 'loopback' | 'always' | 'never';

/**
 * Judges requests for a program with separate identities. A provider that throws rejects the request with status 401.
 *
 * @example
 * ```ts
 * const users = new Map([['session-of-alice', 'alice']]);
 * const authenticate: PrincipalProvider = ({ header }) => {
 *   const user = users.get(header('x-session') ?? '');
 *   return user === undefined ? undefined : createPrincipal({ scope: 'acme', user, grants: ['member'] });
 * };
 * ```
 */
export type PrincipalProvider = (head: RequestHead) => Principal | undefined | Promise<Principal | undefined>;

export const createAuthenticator = (deps: AuthenticatorDeps): Authenticate => {
  const { adminToken, guesses } = deps;
  const judgeToken = createBearerJudge(deps);

  /** @throws Unauthorized */
  const judge = (presented: Presented): Judged => {
    const isAdminSurface = presented.surface === 'admin';
    if (isAdminSurface && adminToken === undefined)
      throw new Unauthorized('admin authentication is not configured');
    const values = presented.authorization();
    if (values.length === 0) return judgeWithoutHeader(presented);
    try {
      const bearer = readBearer(values);
      const judged = bearer.kind === 'bearer' ? judgeToken(presented, bearer.token) : 'unrecognized';
      if (judged === 'unrecognized') checkIgnorable(presented, bearer);
      return judged;
    } catch (error) {
      throw counted(guesses, presented.address(), presented.surface, error);
    }
  };

  /** Pages can make a browser send these, so they are not attempts to guess a credential. */
  const judgeWithoutHeader = (presented: Presented): Judged => {
    const [ticket, session] = [presented.ticket(), presented.session()];
    try {
      if (ticket !== undefined) return { principal: deps.judgeTicket(ticket, presented) };
      if (session === undefined) return 'none';
      return { principal: deps.judgeSession(session, presented.address) };
    } catch (error) {
      throw error instanceof Unauthorized ? inTermsOf(presented.surface, error) : error;
    }
  };

  const isOpen = ({ surface, isLocal }: Presented): boolean =>
    surface === 'agent-invocation' &&
    (deps.anonymous === 'always' || (deps.anonymous === 'loopback' && isLocal()));

  /** A proxy may have added a credential that is meant for it; but a short admin token must not be tried freely. */
  const checkIgnorable = (presented: Presented, bearer: Bearer): void => {
    const isGuess = bearer.kind === 'bearer' && guesses.areCounted;
    if (isOpen(presented) && !isGuess) return;
    if (isOpen(presented)) guesses.failed(presented.address(), new Unauthorized(INVALID));
    else throw new Unauthorized(refusalOf(presented.surface, bearer));
  };

  const callerOf = (presented: Presented, judged: Judged): Principal | Promise<Principal> => {
    if (typeof judged === 'object') return inOwnScope(deps, presented, judged.principal);
    if (judged !== 'admin' && !isOpen(presented)) {
      if (presented.isOptional) return NOBODY;
      throw new Unauthorized(required(presented.surface));
    }
    return inScope(deps, presented, judged === 'admin' ? adminIn : anonymousIn);
  };

  const principalOf = (presented: Presented): Principal | Promise<Principal> => {
    const judged = judge(presented);
    // Read now, because the headers are no longer readable when a promise resolves.
    const endUser = presented.header(
      typeof judged === 'object' && !(judged.principal instanceof Promise)
        ? userHeaderOf(judged.principal)
        : USER_HEADER,
    );
    const ofFrontEnd = endUser === undefined ? deps.frontEndUser?.(presented) : undefined;
    const caller = callerOf(presented, judged);
    return caller instanceof Promise
      ? caller.then((principal) => deps.actFor(principal, endUser, ofFrontEnd))
      : deps.actFor(caller, endUser, ofFrontEnd);
  };

  return withProgram(deps.authenticate, principalOf);
};

/** Judges the token of a bearer. @throws Unauthorized, RateLimited */
const createBearerJudge = ({
  adminToken,
  guesses,
  judgeKey,
  judgeSession,
  judgeAccessToken,
}: AuthenticatorDeps): ((presented: Presented, token: string) => Judged) => {
  const isAdminToken = adminToken === undefined ? undefined : createTokenCheck(adminToken);
  const judgeIssued = (token: string, ip: () => string): JudgedPrincipal | undefined => {
    if (token.startsWith(KEY_PREFIX)) return judgeKey(token, ip);
    return token.startsWith(SESSION_PREFIX) ? judgeSession(token, ip) : undefined;
  };
  return (presented, token) => {
    const issued = judgeIssued(token, presented.address);
    if (issued) return { principal: issued };
    const judgeJwt = isCompactToken(token) ? judgeAccessToken : undefined;
    // A token that was verified before has been compared with the admin token then.
    const known = judgeJwt?.known(token);
    if (known) return { principal: counting(guesses, presented, known) };
    // A longer token is not an attempt to guess a short one.
    if (isAdminToken && !(judgeJwt && token.length >= SHORT_TOKEN)) guesses.check(presented.address);
    if (isAdminToken?.(token)) return 'admin';
    if (!judgeJwt) return 'unrecognized';
    guesses.checkUnverified(presented.address);
    return { principal: counting(guesses, presented, judgeJwt(token)) };
  };
};

/** Counts a rejection as a failed attempt. */
const counting = (
  guesses: Guesses,
  { address, surface }: Presented,
  principal: Principal | Promise<Principal>,
): Principal | Promise<Principal> => {
  if (!(principal instanceof Promise)) return principal;
  // Read now, because a request is valid only during its callback.
  const from = address();
  const judged = principal.catch((error: unknown) => {
    throw counted(guesses, from, surface, error);
  });
  return handled(judged);
};

/** Returns the error to send. */
const counted = (guesses: Guesses, address: string, surface: Surface, error: unknown): unknown =>
  error instanceof Unauthorized ? guesses.failed(address, inTermsOf(surface, error)) : error;

/** Asks the program first, if it has a hook. */
const withProgram = (
  authenticate: PrincipalProvider | undefined,
  principalOf: Authenticate,
): Authenticate => {
  if (!authenticate) return principalOf;
  return (presented) => {
    const given = askProgram(authenticate, presented);
    if (!(given instanceof Promise)) return given ?? principalOf(presented);
    // The headers can only be read now, so the credentials of the request are judged before the promise resolves.
    const own = attempt(() => principalOf(presented));
    return given.then((principal) => principal ?? own());
  };
};

const inScope = <Value>(
  { resolveScope: provider, scope_id }: Pick<AuthenticatorDeps, 'resolveScope' | 'scope_id'>,
  presented: Presented,
  make: (scope: string) => Value,
): Value | Promise<Value> => {
  if (!provider) return make(scope_id);
  const scope = resolveScope(provider, presented.surface, presented);
  return typeof scope === 'string' ? make(scope) : scope.then((resolved) => make(resolved));
};

/** A scope that the embedding program resolves must be that of the credential. */
const inOwnScope = (
  deps: Pick<AuthenticatorDeps, 'resolveScope' | 'scope_id'>,
  presented: Presented,
  principal: Principal | Promise<Principal>,
): Principal | Promise<Principal> => {
  if (!deps.resolveScope) return principal;
  const check = (own: Principal, scope: string): Principal => {
    if (scope !== own.scope) throw new Unauthorized('the credential is of another scope');
    return own;
  };
  if (!(principal instanceof Promise)) return inScope(deps, presented, (scope) => check(principal, scope));
  // The provider reads headers, which are valid only now.
  const scope = inScope(deps, presented, (resolved) => resolved);
  return Promise.all([principal, scope]).then(([own, resolved]) => check(own, resolved));
};

type Judged = 'admin' | 'none' | 'unrecognized' | { principal: JudgedPrincipal | Promise<JudgedPrincipal> };

/** Prevents an unhandled rejection of a promise whose outcome may not be needed. */
const handled = <Value>(promise: Promise<Value>): Promise<Value> => {
  promise.catch(() => {});
  return promise;
};

/** The admin surface has a separate text for unknown credentials (identity.md 3.1). */
const inTermsOf = (surface: Surface, error: Unauthorized): Unauthorized =>
  surface === 'admin' && error.message === INVALID
    ? new Unauthorized(refusalOf(surface, { kind: 'bearer', token: '' }))
    : error;

/** Runs now, and returns or throws the outcome later. */
const attempt = <Value>(work: () => Value): (() => Value) => {
  try {
    const value = work();
    if (value instanceof Promise) handled(value);
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
};

const askProgram = (
  provider: PrincipalProvider,
  { method, path, header }: Presented,
): Principal | undefined | Promise<Principal | undefined> => {
  try {
    const given = provider({ method, path, header });
    return given instanceof Promise ? given.catch(refuse) : given;
  } catch (error) {
    return refuse(error);
  }
};

const refuse = (error: unknown): never => {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Unauthorized(`authentication failed: ${reason}`, { cause: error });
};

const refusalOf = (surface: Surface, { kind }: Bearer): string => {
  if (surface !== 'admin') return INVALID;
  return kind === 'bearer'
    ? 'invalid admin bearer token'
    : 'Authorization header must use Bearer authentication';
};

const required = (surface: Surface): string =>
  surface === 'admin' ? 'admin authentication required' : 'authentication required';
