import { compileGlob } from '../../schema/glob.ts';
import { identityText, MOST_SCOPE_BYTES, MOST_USER_ID_BYTES } from '../../schema/identity-text.ts';
import type { ClaimPath, IssuerSpec } from '../../schema/issuer.ts';
import { createAuthority } from './authority.ts';
import { valueAt } from './claim-path.ts';
import type { Claims } from './compact-token.ts';
import { invalidToken } from './refusal.ts';
import type { VerifiedToken } from './verified-token.ts';

/** Reads account, user, scope and grants from the claims of a verified token (identity.md 2.3). */
export type ReadClaims = (claims: Claims, times: { iat: number; exp: number }) => VerifiedToken;

const MOST_SUBJECT_BYTES = 512;

/** @param scopeId is the scope of an issuer that names none */
export const createClaimsReader = (spec: IssuerSpec, scopeId: string): ReadClaims => {
  const { issuer, claims: paths, provision, max_age_secs } = spec;
  const scopeOf = createScope(spec, scopeId);
  const authorityOf = createAuthority(spec);
  return (claims, { iat, exp }) => {
    const subject = subjectOf(claims);
    const user = userOf(claims, paths);
    const scope = scopeOf(claims);
    const { grants, narrowing } = authorityOf(claims, scope);
    const name = textAt(claims, paths.name);
    const email = textAt(claims, paths.email)?.toLowerCase();
    return {
      issuer,
      subject,
      scope,
      user,
      name,
      email,
      grants,
      narrowing,
      iat,
      exp: Math.min(exp, iat + max_age_secs),
      provision,
    };
  };
};

const subjectOf = ({ sub }: Claims): string => {
  if (typeof sub !== 'string' || sub === '' || !sub.isWellFormed()) throw invalidToken('claims');
  if (Buffer.byteLength(sub) > MOST_SUBJECT_BYTES) throw invalidToken('claims');
  return sub;
};

const userOf = (claims: Claims, { user: path, email }: IssuerSpec['claims']): string => {
  const id = textAt(claims, path);
  if (id === undefined) throw invalidToken('claims');
  if (path.at(-1) !== 'email' && path.join('\0') !== email?.join('\0')) return id;
  // An address that the provider has not verified may be that of another person.
  if (valueAt(claims, [...path.slice(0, -1), 'email_verified']) !== true) throw invalidToken('claims');
  return id.toLowerCase();
};

const createScope = (
  { scope: fixed, scopes = [], claims: { scope: path } }: IssuerSpec,
  scopeId: string,
): ((claims: Claims) => string) => {
  if (!path) return () => fixed ?? scopeId;
  const patterns = scopes.map(compileGlob);
  return (claims) => {
    const value = valueAt(claims, path);
    const scope = typeof value === 'string' ? identityText(value, MOST_SCOPE_BYTES) : undefined;
    if (scope === undefined || !patterns.some((matches) => matches(scope))) throw invalidToken('scope');
    return scope;
  };
};

/** Returns undefined for a claim that is missing, or is not an allowed text. */
const textAt = (claims: Claims, path: ClaimPath | undefined): string | undefined => {
  const value = path && valueAt(claims, path);
  return typeof value === 'string' ? identityText(value, MOST_USER_ID_BYTES) : undefined;
};
