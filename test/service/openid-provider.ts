import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import type { Test } from 'tap';
import { freePort } from '../ports.ts';

/** An OpenID provider on loopback whose user signs in without a form. */
export type OpenIdProvider = {
  issuer: string;
  /** The user who signs in; undefined: refuses. */
  account: { id: string | undefined };
  /** Follows the redirects of the provider, and returns the address of the callback. */
  signIn(url: string): Promise<string>;
};

export const startOpenIdProvider = async (t: Test, redirect_uris: string[]): Promise<OpenIdProvider> => {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const account: OpenIdProvider['account'] = { id: '00u1' };
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'k1' }] },
    clients: [{ client_id: 'troupe', client_secret: 'secret', redirect_uris, response_types: ['code'] }],
    claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, name: 'Alice', groups: ['users'] }),
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response);
    const { id } = account;
    const result = id === undefined ? { error: 'access_denied' } : { login: { accountId: id } };
    return void provider.interactionFinished(request, response, result);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });

  const signIn: OpenIdProvider['signIn'] = async (url) => {
    const cookies = new Map<string, string>();
    let next = url;
    while (next.startsWith(issuer)) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next}: ${response.status} ${await response.text()}`);
      next = new URL(location, next).href;
    }
    return next;
  };
  return { issuer, account, signIn };
};
