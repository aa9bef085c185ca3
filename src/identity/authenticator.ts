import { Unauthorized } from '../schema/outcome.ts';
import type { Authenticate, Presented, Surface } from '../schema/presented.ts';
import { adminIn, anonymousIn, type Principal } from '../schema/principal.ts';
import { type Bearer, readBearer } from './bearer.ts';
import type { Guesses } from './guesses.ts';
import { type RequestHead, resolveScope, type ScopeProvider } from './scope.ts';
import { createTokenCheck } from './token.ts';

/**
 * Resolves whom a request acts for (identity.md 3.1, 3.2). Exactly one credential is judged, and a bad one never falls
 * back to another. Resolves synchronously unless a hook of the embedding program returns a promise.
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
};

/** Where requests without a credential may invoke agents. */
export type AnonymousAccess = 'loopback' | 'always' | 'never';

/**
 * Judges requests for a program with separate identities. A provider that throws rejects the request with status 401.
 *
 * @example
 * ```ts
 * const member = (user: string) => troupe.principal({ scope: 'acme', user, grants: ['member'] });
 * const authenticate: PrincipalProvider = ({ header }) => {
 *   const user = users.get(header('x-session') ?? '');
 *   return user && member(user);
 * };
 * ```
 */
export type PrincipalProvider = (head: RequestHead) => Principal | undefined | Promise<Principal | undefined>;

export const createAuthenticator = (deps: AuthenticatorDeps): Authenticate => {
  const { adminToken, guesses } = deps;
  const isAdminToken = adminToken === undefined ? undefined : createTokenCheck(adminToken);

  const judgeToken = (presented: Presented, token: string): Judged => {
    if (!isAdminToken) return 'unrecognized';
    guesses.check(presented.address);
    return isAdminToken(token) ? 'admin' : 'unrecognized';
  };

  /** @throws Unauthorized */
  const judge = (presented: Presented): Judged => {
    const isAdminSurface = presented.surface === 'admin';
    if (isAdminSurface && !isAdminToken) throw new Unauthorized('admin authentication is not configured');
    const values = presented.authorization();
    if (values.length === 0) return 'none';
    try {
      const bearer = readBearer(values);
      const judged = bearer.kind === 'bearer' ? judgeToken(presented, bearer.token) : 'unrecognized';
      if (judged === 'unrecognized') checkIgnorable(presented, bearer);
      return judged;
    } catch (error) {
      throw error instanceof Unauthorized ? guesses.failed(presented.address(), error) : error;
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

  const principalOf = (presented: Presented): Principal | Promise<Principal> => {
    const judged = judge(presented);
    if (judged !== 'admin' && !isOpen(presented)) throw new Unauthorized(required(presented.surface));
    const make = judged === 'admin' ? adminIn : anonymousIn;
    const { resolveScope: provider } = deps;
    if (!provider) return make(deps.scope_id);
    const scope = resolveScope(provider, presented.surface, presented);
    return typeof scope === 'string' ? make(scope) : scope.then((resolved) => make(resolved));
  };

  const { authenticate } = deps;
  if (!authenticate) return principalOf;
  return (presented) => {
    const given = askProgram(authenticate, presented);
    if (!(given instanceof Promise)) return given ?? principalOf(presented);
    // The headers can only be read now, so the credentials of the request are judged before the promise resolves.
    const own = attempt(() => principalOf(presented));
    return given.then((principal) => principal ?? own());
  };
};

type Judged = 'admin' | 'none' | 'unrecognized';

/** Runs now, and returns or throws the outcome later. */
const attempt = <Value>(work: () => Value): (() => Value) => {
  try {
    const value = work();
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

const INVALID = 'invalid credential';

const refusalOf = (surface: Surface, { kind }: Bearer): string => {
  if (surface !== 'admin') return INVALID;
  return kind === 'bearer'
    ? 'invalid admin bearer token'
    : 'Authorization header must use Bearer authentication';
};

const required = (surface: Surface): string =>
  surface === 'admin' ? 'admin authentication required' : 'authentication required';
