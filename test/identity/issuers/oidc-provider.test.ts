import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import t, { type Test } from 'tap';
import { freePort } from '../../ports.ts';
import { outcomeOf, verifying } from './provider.ts';

/** Tokens of a real identity provider: identity.md 2.3, check 24, and the ID tokens of check 25. */

const AUDIENCE = 'https://agents.example/v1/mcp';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

/** An OpenID provider on loopback that issues JWTs as access tokens, signed with the algorithm of the client. */
const startOpenIdProvider = async (t: Test) => {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const keys = await Promise.all(
    ALGORITHMS.map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `key-${alg}` };
    }),
  );
  const configuration: Configuration = {
    jwks: { keys },
    clients: ALGORITHMS.map((alg) => ({
      client_id: `client-${alg}`,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, _resource, client) => ({
          scope: 'invoke:support read:own',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALGORITHMS.find((alg) => client.clientId.endsWith(alg)) ?? 'RS256' } },
        }),
      },
    },
  };
  const server = createServer(new Provider(issuer, configuration).callback());
  await once(server.listen(port, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const tokenFor = async (client: string, scope?: string): Promise<string> => {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: AUDIENCE,
        ...(scope !== undefined && { scope }),
      }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  };
  return { issuer, tokenFor };
};

t.test('accepts access tokens of an OpenID provider', async (t) => {
  const { issuer, tokenFor } = await startOpenIdProvider(t);
  const { issuers, clock } = verifying([
    { id: 'acme', issuer, audiences: [AUDIENCE], scope: 'acme', default_grants: ['member'] },
  ]);
  clock.now = Date.now;
  for (const alg of ALGORITHMS) {
    const token = await tokenFor(`client-${alg}`, 'invoke:support');
    const verified = await issuers.verify(token);
    t.match(verified, { issuer, scope: 'acme', user: `client-${alg}` }, alg);
    t.strictSame([verified.grants.texts, verified.narrowing?.texts], [['member'], ['invoke:support']]);
    t.equal(issuers.recall(token), verified);
  }
});

t.test('rejects access tokens for another audience', async (t) => {
  const { issuer, tokenFor } = await startOpenIdProvider(t);
  const { issuers, clock } = verifying([{ id: 'acme', issuer, audiences: ['https://other.example'] }]);
  clock.now = Date.now;
  t.equal(await outcomeOf(issuers, await tokenFor('client-RS256')), 'audience');
});
