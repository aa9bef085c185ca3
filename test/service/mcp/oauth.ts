import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import type { Test } from 'tap';
import { freePort } from '../../ports.ts';

/** A real OpenID provider that signs in one account without a page, and the browser that follows its redirects. */

export type OAuthProvider = {
  issuer: string;
  /** Follows the redirects of an authorization to the client, as a browser would. Returns its parameters. */
  authorize(url: URL): Promise<URLSearchParams>;
};

/**
 * @param audience the resource that access tokens are for
 * @param scopes the OAuth scopes that clients may ask for
 */
export const startOAuthProvider = async (
  t: Test,
  { audience, scopes, account }: { audience: string; scopes: string; account: string },
): Promise<OAuthProvider> => {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const configuration: Configuration = {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'k1' }] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    scopes: ['openid', 'offline_access', ...scopes.split(' ')],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: scopes, audience, accessTokenFormat: 'jwt' }),
      },
    },
  };
  const provider = new Provider(issuer, configuration);
  const callback = provider.callback();
  const server = createServer(async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response);
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: account } });
    }
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(`openid ${String(params.scope)}`);
    grant.addResourceScope(audience, String(params.scope));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { issuer, authorize: (url) => follow(url, issuer) };
};

const MOST_REDIRECTS = 20;

const follow = async (start: URL, issuer: string): Promise<URLSearchParams> => {
  const cookies = new Map<string, string>();
  let url = start;
  for (let step = 0; step < MOST_REDIRECTS; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin === issuer) continue;
    return url.searchParams;
  }
  throw new Error('too many redirects');
};
