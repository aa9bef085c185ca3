import * as oauth from 'oauth4webapi';
import { clientAuthentication, knownClient, registerClient, requestOptions, withOAuth } from './client.ts';
import { checkBound, type Discovered, type OAuthEntry, OFFLINE } from './discovery.ts';
import { ConnectionFailure } from './failure.ts';
import type { Reach } from './reach.ts';
import type {
  AuthorizationAttempt,
  AuthorizationRequest,
  BegunAuthorization,
  GrantedTokens,
  RegisteredClient,
} from './types.ts';

/** The authorization code flow with PKCE (OAuth 2.1, MCP 2025-11-25). */

export type Registrations = Map<string, RegisteredClient>;

type At = { entry: OAuthEntry; found: Discovered; reach: Reach };

/** @throws ConnectionFailure */
export const beginAuthorization = async (
  { entry, found, reach }: At,
  { redirectUri, clientDocument, scopes }: AuthorizationRequest,
  registrations: Registrations,
): Promise<BegunAuthorization> => {
  checkBound(entry, scopes);
  const { as, issuer, resource } = found;
  const choice = { auth: entry.auth, as, redirectUri, clientDocument, reach };
  const key = registrationKey(entry, issuer, redirectUri);
  const client = knownClient(choice) ?? registrations.get(key) ?? (await registerClient(choice));
  if (entry.auth.client_id === undefined && client.client_id !== clientDocument)
    remember(registrations, key, client);
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  // Its address was checked with the metadata.
  const url = new URL(String(as.authorization_endpoint));
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    // OpenID Connect ignores the scope without consent.
    ...(scopes.includes(OFFLINE) && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return {
    url: url.href,
    state,
    attempt: {
      ...{ server: entry.id, url: entry.url, issuer, resource, scopes, state, verifier },
      ...{ redirect_uri: redirectUri, client },
    },
  };
};

const MOST_REGISTRATIONS = 1000;

const remember = (registrations: Registrations, key: string, client: RegisteredClient): void => {
  registrations.set(key, client);
  const [oldest] = registrations.keys();
  if (registrations.size > MOST_REGISTRATIONS && oldest !== undefined) registrations.delete(oldest);
};

/** A client belongs to its issuer: another one receives neither its id nor its secret. */
const registrationKey = ({ id, url }: OAuthEntry, issuer: string, redirectUri: string): string =>
  JSON.stringify([id, url, issuer, redirectUri]);

/** Forgets a client that its authorization server no longer accepts. */
export const forgetClient = (registrations: Registrations, { client_id }: RegisteredClient): void => {
  for (const [key, client] of registrations) if (client.client_id === client_id) registrations.delete(key);
};

/** Nothing is sent unless the callback belongs to the attempt. @throws ConnectionFailure */
export const redeemCode = async (
  { found, reach, now }: Omit<At, 'entry'> & { now: () => number },
  attempt: AuthorizationAttempt,
  callback: URLSearchParams,
): Promise<GrantedTokens> => {
  const { as, issuer, resource } = found;
  if (issuer !== attempt.issuer || resource !== attempt.resource)
    throw new ConnectionFailure('refused', 'the authorization server of the MCP server has changed');
  const client = { client_id: attempt.client.client_id };
  const parameters = await withOAuth(async () =>
    oauth.validateAuthResponse(as, client, callback, attempt.state),
  );
  const granted = await withOAuth(async () =>
    oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(
        as,
        client,
        clientAuthentication(attempt.client),
        parameters,
        attempt.redirect_uri,
        attempt.verifier,
        { additionalParameters: { resource }, ...requestOptions('the token endpoint', reach) },
      ),
    ),
  );
  return {
    server: attempt.server,
    url: attempt.url,
    issuer,
    resource,
    client: attempt.client,
    ...tokensIn(granted, attempt.scopes, now()),
  };
};

export type Tokens = Pick<GrantedTokens, 'access_token' | 'refresh_token' | 'expires_at' | 'scopes'>;

/** @throws ConnectionFailure unless it is a bearer token */
export const tokensIn = (
  { access_token, refresh_token, expires_in, scope, token_type }: oauth.TokenEndpointResponse,
  requested: readonly string[],
  now: number,
): Tokens => {
  if (token_type !== 'bearer') throw new ConnectionFailure('refused', 'the token is not a bearer token');
  // Other characters could not be sent.
  if (!/^[\x21-\x7e]+$/.test(access_token) || access_token.length > LONGEST_TOKEN)
    throw new ConnectionFailure('refused', 'the token cannot be sent in a header');
  return {
    access_token,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(expires_in !== undefined && { expires_at: now + Math.min(expires_in, MOST_SECONDS) * 1000 }),
    scopes: scope === undefined ? requested : scope.split(' ').filter((each) => each !== ''),
  };
};

const LONGEST_TOKEN = 16 * 1024;

/** About 10 years. */
const MOST_SECONDS = 315_000_000;
