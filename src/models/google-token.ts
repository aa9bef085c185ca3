import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Invalid } from '../schema/outcome.ts';
import { BOUNDS } from './bounds.ts';
import { ModelError } from './errors.ts';
import { reasonOf, UnreadableBody } from './response.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * Access tokens for a Google service account: a signed assertion is exchanged for a token (RFC 7523, RS256).
 *
 * Guarantees: one exchange at a time; a token is used until shortly before it expires; a failed exchange is
 * tried again by the next call. Relies on: the key is only ever sent, signed, to Google's own address.
 * Costs: one request an hour.
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

/** @throws Invalid that names what is wrong with the key, and nothing of its content */
export const parseServiceAccount = (json: string): ServiceAccount => {
  const parsed = ServiceAccount.safeParse(parseJson(json));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue ? issue.path.join('.') : '';
  throw new Invalid(`api_key is not a service account key: ${MISTAKES[key] ?? 'it must be a JSON object'}`);
};

const MISTAKES: Readonly<Record<string, string>> = {
  client_email: 'client_email must not be blank',
  private_key: 'private_key must hold a PEM key',
  private_key_id: 'private_key_id must be a string',
  project_id: 'project_id must be a string',
  token_uri: `token_uri must be ${TOKEN_URI}`,
};

const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    // Refused below; the error of the parser would quote the key.
    return undefined;
  }
};

export type TokenDeps = { text: Transport['text']; now(): number };

const LIFETIME_SECONDS = 3600;
/** A token this close to its end is not used any more. */
const MARGIN_MS = 60_000;

/** What can stand in a header; the error of one that cannot would quote it. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);
const Granted = z.object({ access_token: Token, expires_in: z.number().positive() });

/** @throws Invalid when the private key cannot be read */
export const createTokenSource = (
  account: ServiceAccount,
  scopes: readonly string[],
  deps: TokenDeps,
): (() => Promise<string>) => {
  const key = readKey(account.private_key);
  let current: { token: Promise<string>; until: number } | undefined;
  return () => {
    if (current && deps.now() < current.until) return current.token;
    const asked = { token: Promise.resolve(''), until: Number.POSITIVE_INFINITY };
    asked.token = assertionOf(account, key, scopes, deps.now())
      .then((assertion) => exchange(assertion, deps))
      .then(({ access_token, expires_in }) => {
        asked.until = deps.now() + expires_in * 1000 - MARGIN_MS;
        return access_token;
      })
      .catch((error: unknown) => {
        if (current === asked) current = undefined;
        throw error;
      });
    current = asked;
    return asked.token;
  };
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
  // Loaded when the first service account needs it.
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

const exchange = async (assertion: string, deps: TokenDeps): Promise<z.infer<typeof Granted>> => {
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const request = {
    method: 'POST',
    url: TOKEN_URI,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    most: BOUNDS.tokenBytes,
    signal: AbortSignal.timeout(30_000),
  } as const;
  const { status, body } = await deps.text(request).catch(withoutBody);
  const granted = Granted.safeParse(parseJson(body));
  if (status < 300 && granted.success) return granted.data;
  const kind = status >= 500 || status === 429 ? 'provider' : 'unauthorized';
  throw new ModelError(kind, `Google refused the service account (status ${status})`, { status });
};

/** What cannot be read grants no token, and its status says why. */
const withoutBody = (error: unknown): Pick<TextResponse, 'status' | 'body'> => {
  if (error instanceof UnreadableBody) return { status: error.status, body: '' };
  throw new ModelError('provider', `the token service of Google: ${reasonOf(error)}`);
};
