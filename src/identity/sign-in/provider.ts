import type * as Oauth from 'oauth4webapi';
import { type Clock, monotonic } from '../../schema/clock.ts';
import { type IssuerSpec, isTrustedAddress } from '../../schema/issuer.ts';
import { type Attempt, challengeOf } from './attempts.ts';

/**
 * The authorization code flow with an OpenID provider (OpenID Connect Core 1.0, RFC 7636, RFC 9207). `oauth4webapi`
 * checks `state`, `iss`, `nonce` and the claims of the ID token; the caller verifies its signature.
 */
export type Provider = {
  /** Returns the address of the provider at which the user signs in. */
  authorizationUrl(attempt: Attempt, redirect_uri: string): Promise<string>;
  /** Returns the ID token. @throws SignInFailed */
  redeem(attempt: Attempt, redirect_uri: string, answer: URLSearchParams): Promise<string>;
};

type FailureReason = 'denied' | 'expired' | 'mismatch' | 'provider' | 'not_allowed';

/** A sign-in that did not succeed; the browser is sent to `/sign-in?error=<reason>`. */
export class SignInFailed extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, options?: { cause: unknown }) {
    super(`the sign-in failed: ${reason}`, options);
    this.name = 'SignInFailed';
    this.reason = reason;
  }
}

const TIMEOUT_MS = 5_000;
const LARGEST_BYTES = 256 * 1024;
const METADATA_MS = 600_000;
const SCOPES = ['openid', 'profile', 'email'];

type Client = { spec: IssuerSpec; client_id: string; client_secret: string | undefined };

export const createProvider = (client: Client, clock: Clock): Provider => {
  const discover = createDiscovery(client.spec, clock);
  return {
    async authorizationUrl({ state, nonce, verifier }, redirect_uri) {
      const { authorization_endpoint: endpoint, scopes_supported } = await discover();
      if (endpoint === undefined || !isTrustedAddress(endpoint)) throw new SignInFailed('provider');
      const url = new URL(endpoint);
      const scope = SCOPES.filter((each) => scopes_supported?.includes(each) ?? true).join(' ');
      const parameters = {
        client_id: client.client_id,
        redirect_uri,
        response_type: 'code',
        scope,
        state,
        nonce,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    async redeem(attempt, redirect_uri, answer) {
      const oauth = await import('oauth4webapi');
      const server = await discover();
      try {
        return await redeemWith(oauth, { server, client }, { attempt, redirect_uri, answer });
      } catch (error) {
        throw new SignInFailed(reasonOf(oauth, error), { cause: error });
      }
    },
  };
};

const redeemWith = async (
  oauth: typeof Oauth,
  { server, client }: { server: Oauth.AuthorizationServer; client: Client },
  { attempt, redirect_uri, answer }: { attempt: Attempt; redirect_uri: string; answer: URLSearchParams },
): Promise<string> => {
  const { client_id } = client;
  const parameters = oauth.validateAuthResponse(server, { client_id }, answer, attempt.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    { client_id },
    authenticationOf(oauth, server, client),
    parameters,
    redirect_uri,
    attempt.verifier,
    optionsFor(oauth, client.spec),
  );
  const { id_token } = await oauth.processAuthorizationCodeResponse(server, { client_id }, response, {
    expectedNonce: attempt.nonce,
    requireIdToken: true,
  });
  if (id_token === undefined) throw new SignInFailed('provider');
  return id_token;
};

/** The response of the browser is not the one to this attempt, or the provider could not be used. */
const reasonOf = (oauth: typeof Oauth, error: unknown): FailureReason => {
  if (error instanceof SignInFailed) return error.reason;
  if (error instanceof oauth.AuthorizationResponseError) {
    return error.error === 'access_denied' ? 'denied' : 'provider';
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isForeign = code === oauth.JWT_CLAIM_COMPARISON || code === oauth.INVALID_RESPONSE;
  return isForeign ? 'mismatch' : 'provider';
};

const authenticationOf = (
  oauth: typeof Oauth,
  { token_endpoint_auth_methods_supported: methods }: Oauth.AuthorizationServer,
  { client_secret }: Client,
): Oauth.ClientAuth => {
  if (client_secret === undefined) return oauth.None();
  const isPostOnly = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return isPostOnly ? oauth.ClientSecretPost(client_secret) : oauth.ClientSecretBasic(client_secret);
};

/** The operator trusts an issuer, so http is allowed where the settings allow it: on loopback. */
const optionsFor = (oauth: typeof Oauth, { issuer }: IssuerSpec) => ({
  [oauth.allowInsecureRequests]: new URL(issuer).protocol === 'http:',
  [oauth.customFetch]: limitedFetch,
  signal: () => AbortSignal.timeout(TIMEOUT_MS),
});

const createDiscovery = (spec: IssuerSpec, clock: Clock): (() => Promise<Oauth.AuthorizationServer>) => {
  let known: { server: Oauth.AuthorizationServer; at: number } | undefined;
  return async () => {
    if (known && monotonic(clock) - known.at < METADATA_MS) return known.server;
    const oauth = await import('oauth4webapi');
    const issuer = new URL(spec.issuer);
    try {
      const response = await oauth.discoveryRequest(issuer, optionsFor(oauth, spec));
      const server = await oauth.processDiscoveryResponse(issuer, response);
      if (server.issuer !== spec.issuer) throw new Error('the metadata is that of another issuer');
      known = { server, at: monotonic(clock) };
      return server;
    } catch (error) {
      throw new SignInFailed('provider', { cause: error });
    }
  };
};

/** Follows no redirect, and reads a response only up to its limit. */
const limitedFetch = async (url: string, options: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...options, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LARGEST_BYTES) throw new Error(`the response has more than ${LARGEST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), { status, headers });
};
