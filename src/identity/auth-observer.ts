import { Forbidden, RateLimited, type Rejection, Unauthorized } from '../schema/outcome.ts';
import type { AuthObserver } from '../schema/presented.ts';
import { type CredentialKind, NOBODY } from '../schema/principal.ts';
import { readBearer } from './bearer.ts';
import { KEY_PREFIX } from './credentials/key-format.ts';
import { isCompactToken } from './issuers/index.ts';

/** Counts authentications by kind of credential and by result (identity.md 7). */

/** `none`: no credential where one is needed, or a credential of an unknown form. */
export type AuthKind = CredentialKind | 'none';

export type AuthResult = 'ok' | Rejection | 'forbidden' | 'limited';

export const createAuthObserver = (count: (kind: AuthKind, result: AuthResult) => void): AuthObserver => ({
  admitted: (principal) => count(principal === NOBODY ? 'none' : principal.credential.kind, 'ok'),
  rejected(by, error) {
    const result = resultOf(error);
    if (result !== undefined) count('authority' in by ? by.credential.kind : kindOf(by), result);
  },
});

/** Undefined for failures that say nothing about the credential, such as an unreachable identity provider. */
const resultOf = (error: unknown): AuthResult | undefined => {
  if (error instanceof Unauthorized) return error.reason;
  if (error instanceof Forbidden) return 'forbidden';
  return error instanceof RateLimited ? 'limited' : undefined;
};

/** A token of another form can only have been meant as the admin token. */
const kindOf = (authorization: readonly string[]): AuthKind => {
  const token = tokenIn(authorization);
  if (token === undefined) return 'none';
  if (token.startsWith(KEY_PREFIX)) return 'key';
  return isCompactToken(token) ? 'jwt' : 'admin';
};

const tokenIn = (authorization: readonly string[]): string | undefined => {
  try {
    const bearer = readBearer(authorization);
    return bearer.kind === 'bearer' ? bearer.token : undefined;
  } catch {
    return undefined;
  }
};
