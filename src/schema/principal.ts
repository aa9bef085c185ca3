import { type Authority, authorizes, type GrantWord, grantOf, mentions, parseGrants } from './grants.ts';
import { MOST_USER_ID_BYTES, userIdText } from './identity-text.ts';
import { Forbidden, Invalid, Unauthorized } from './outcome.ts';
import { checkPartitionOf, isReservedScope } from './partition.ts';

/** Whom a request acts for, resolved once before anything else is read (identity.md 1). */

export type CredentialKind = 'admin' | 'key' | 'jwt' | 'session' | 'ticket' | 'program' | 'anonymous';

/**
 * `id` is absent for kinds that have no record. `line` is the first key of a chain of rotations, if `id` is a later one.
 */
export type Credential = {
  readonly kind: CredentialKind;
  readonly id?: string;
  readonly line?: string;
  /** Set if it acts for an end user and has no record that names its own user. */
  readonly act?: true;
};

/**
 * The user, rights and credential that a request acts with (identity.md 1).
 *
 * @example
 * ```ts
 * const alice: Principal = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
 * ```
 */
export type Principal = {
  readonly scope: string;
  /** Absent for the admin token and for requests without a credential; those stand in records as `~admin`, `~anonymous`. */
  readonly user: string | undefined;
  readonly authority: Authority;
  readonly credential: Credential;
  /** The authority without the limit of the access token; absent if its OAuth scope names no grants. */
  readonly unlimited?: Authority;
  /** The origin of the rights of a user; absent where no change of users and keys can alter them. */
  readonly basis?: Basis;
};

/** The origin of a principal, from which it is judged again after its request (identity.md 1.5). */
export type Basis = {
  /** The users of its scope, in addition to its own, whose changes may alter it. */
  readonly users: readonly string[];
  /** The revision of users and keys that it was derived from. */
  readonly revision: number;
  /** Time at which its credential expires. */
  readonly expires_at: number;
  /** Derives it from the present users and keys, without regard to the expiry. @throws Unauthorized, Forbidden */
  again(): Principal;
};

/** Returns the principal with its present rights. @throws Unauthorized, Forbidden */
export const presentRights = (principal: Principal): Principal => principal.basis?.again() ?? principal;

/** Returns whether a principal still has a grant. */
export const mayStill = (principal: Principal, need: Need): boolean => {
  try {
    return may(presentRights(principal), need);
  } catch (error) {
    if (error instanceof Unauthorized || error instanceof Forbidden) return false;
    throw error;
  }
};

/** What an act needs: a word, and for `invoke`, `decide` and `configure` what it concerns. */
export type Need = readonly [GrantWord, ...string[]];

export const may = ({ authority }: Principal, [word, ...values]: Need): boolean =>
  authorizes(authority, word, ...values);

/** Returns whether the principal has the word at all; its patterns are checked when it is known what they concern. */
export const mayAtAll = ({ authority }: Principal, word: GrantWord): boolean => mentions(authority, word);

/** @throws Forbidden with the missing grant */
export const demand = (principal: Principal, need: Need): void => {
  if (!may(principal, need)) throw forbidden(need, principal);
};

/** @param principal present if another access token of the same user may have the grant */
export const forbidden = (need: Need, principal?: Principal): Forbidden => {
  const grant = grantOf(...need);
  return new Forbidden(`this needs the grant ${grant}`, {
    code: 'forbidden',
    details: { needs: [grant] },
    scopes: principal && isOutOfScope(principal, need) ? [grant] : undefined,
  });
};

/** Returns whether the principal lacks a right only because the OAuth scope of its access token does not name it. */
export const isOutOfScope = (principal: Principal, need: Need): boolean => {
  const { unlimited } = principal;
  if (unlimited === undefined || may(principal, need)) return false;
  const [word, ...values] = need;
  // The values of the word are in the body, which is not read yet.
  return values.length === 0 ? mentions(unlimited, word) : authorizes(unlimited, word, ...values);
};

/** The names of the principals without a user in records (identity.md 1.1). */
export const ADMIN_NAME = '~admin';
export const ANONYMOUS_NAME = '~anonymous';

/** The name of a principal, or of the giver of an input, in records: its user, or the built-in principal. */
export const nameOf = ({
  user,
  credential,
}: {
  user?: string | undefined;
  credential?: Pick<Credential, 'kind'> | undefined;
}): string =>
  user ?? (credential === undefined || credential.kind === 'anonymous' ? ANONYMOUS_NAME : ADMIN_NAME);

/** @throws Invalid unless it has 1 to 512 bytes, not only blanks, no control characters, and no leading `~` */
export const checkScope = (scope: string): string => {
  if (scope.trim() === '') throw new Invalid('the scope id is blank');
  if (Buffer.byteLength(scope) > 512) throw new Invalid('the scope id is longer than 512 bytes');
  if (isReservedScope(scope)) throw new Invalid("the scope id begins with '~', which is reserved");
  if (/\p{Cc}/u.test(scope)) throw new Invalid('the scope id has control characters');
  return scope;
};

/**
 * A principal as an embedding program describes it.
 *
 * @example
 * ```ts
 * const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
 * ```
 * @throws Invalid
 */
export const createPrincipal = ({
  scope,
  user,
  grants,
}: {
  scope: string;
  user?: string;
  grants: readonly string[];
}): Principal => {
  const of = { scope: checkScope(scope), user: user === undefined ? undefined : checkUser(user) };
  checkPartitionOf(of);
  return { ...of, authority: [parseGrants(grants)], credential: { kind: 'program' } };
};

/** The name of a user becomes part of names in the store, so an empty one must not be the list of all users. */
const checkUser = (user: string): string => {
  const checked = userIdText(user);
  if (checked !== undefined) return checked;
  throw new Invalid(
    `the user must have 1 to ${MOST_USER_ID_BYTES} bytes, no blanks at its ends, no leading '~', not be '.' or '..', and have no control or invisible characters`,
  );
};

const MEMBER = parseGrants(['member']);
const ADMIN = parseGrants(['admin']);

/** A request without a credential where anonymous access holds (identity.md 3.2). */
export const anonymousIn = (scope: string): Principal => ({
  scope,
  user: undefined,
  authority: [MEMBER],
  credential: { kind: 'anonymous' },
});

/** A request without a credential where anonymous access does not hold, and any request on a route that needs nothing. */
export const NOBODY: Principal = {
  scope: '',
  user: undefined,
  authority: [],
  credential: { kind: 'anonymous' },
};

/** The admin token, or the embedding program. */
export const adminIn = (scope: string, kind: 'admin' | 'program' = 'admin'): Principal => ({
  scope,
  user: undefined,
  authority: [ADMIN],
  credential: { kind },
});
