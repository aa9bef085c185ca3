import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { Invalid } from '../schema/outcome.ts';
import {
  createTokenSource,
  exchange,
  type Granted,
  type TokenDeps,
  type TokenSource,
} from './token-source.ts';

/**
 * Access tokens of Google, for a service account (a signed assertion is exchanged for a token: RFC 7523, RS256) and for
 * the refresh token of a user.
 *
 * Relies on: a signed assertion and a refresh token are only ever sent to Google's own address.
 */

const TOKEN_URI = 'https://oauth2.googleapis.com/token';

const Text = z.string().trim().min(1);
const ServiceAccount = z.object({
  client_email: Text,
  private_key: z.string().includes('BEGIN'),
  private_key_id: z.string().optional(),
  project_id: z.string().optional(),
  token_uri: z.literal(TOKEN_URI).optional(),
});
export type ServiceAccount = z.infer<typeof ServiceAccount>;

/** @throws Invalid that names the defect of the key without quoting its content */
export const parseServiceAccount = (json: string): ServiceAccount =>
  readServiceAccount(jsonOrUndefined(json));

/** `place`: the source of the key, for the error. @throws Invalid */
export const readServiceAccount = (json: unknown, place = 'api_key'): ServiceAccount => {
  const parsed = ServiceAccount.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue ? issue.path.join('.') : '';
  throw new Invalid(`${place} is not a service account key: ${MISTAKES[key] ?? 'it must be a JSON object'}`);
};

const MISTAKES: Readonly<Record<string, string>> = {
  client_email: 'client_email must not be blank',
  private_key: 'private_key must hold a PEM key',
  private_key_id: 'private_key_id must be a string',
  project_id: 'project_id must be a string',
  token_uri: `token_uri must be ${TOKEN_URI}`,
};

const LIFETIME_SECONDS = 3600;

/** @throws Invalid when the private key cannot be read */
export const serviceAccountTokens = (
  account: ServiceAccount,
  scopes: readonly string[],
  deps: TokenDeps,
): TokenSource => createTokenSource(serviceAccountGrant(account, scopes, deps), deps);

/** One exchange of the account for a token. @throws Invalid when the private key cannot be read */
export const serviceAccountGrant = (
  account: ServiceAccount,
  scopes: readonly string[],
  deps: TokenDeps,
): (() => Promise<Granted>) => {
  const key = readKey(account.private_key);
  return async () => {
    const assertion = await assertionOf(account, key, scopes, deps.now());
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
    return exchange(
      { url: TOKEN_URI, by: SERVICE, refused: 'Google refused the service account', form },
      deps,
    );
  };
};

const SERVICE = 'the token service of Google';

export type AuthorizedUser = { client_id: string; client_secret: string; refresh_token: string };

export const authorizedUserGrant =
  (user: AuthorizedUser, deps: TokenDeps): (() => Promise<Granted>) =>
  () => {
    const { client_id, client_secret, refresh_token } = user;
    const form = { grant_type: 'refresh_token', client_id, client_secret, refresh_token };
    return exchange({ url: TOKEN_URI, by: SERVICE, refused: 'Google refused the user', form }, deps);
  };

const readKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new Invalid('api_key is not a service account key: private_key cannot be read', { cause });
  }
};

const assertionOf = async (
  { client_email, private_key_id }: ServiceAccount,
  key: KeyObject,
  scopes: readonly string[],
  now: number,
): Promise<string> => {
  // The module is loaded when the first service account needs it.
  const { SignJWT } = await import('jose');
  const iat = Math.floor(now / 1000);
  return new SignJWT({ scope: scopes.join(' ') })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(private_key_id !== undefined && { kid: private_key_id }),
    })
    .setIssuer(client_email)
    .setAudience(TOKEN_URI)
    .setIssuedAt(iat)
    .setExpirationTime(iat + LIFETIME_SECONDS)
    .sign(key);
};
