import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Test } from 'tap';
import { createIssuers, type Issuers } from '../../../src/identity/issuers/index.ts';
import type { IssuerInput } from '../../../src/schema/issuer.ts';
import type { Unauthorized } from '../../../src/schema/outcome.ts';
import { settingsFrom } from '../../../src/settings/index.ts';

/** An identity provider with an HTTP server: metadata, keys, and tokens with any header and claims. */

export const AUDIENCE = 'https://agents.example';
/** The start of the fake clocks, in seconds. */
export const NOW = 1_800_000_000;

type KeyPair = { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK };

export const createKey = async (kid: string, alg = 'ES256'): Promise<KeyPair> => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
};

export const startProvider = async (t: Test) => {
  const state = {
    keys: [await createKey('k1')] as KeyPair[],
    /** Answers instead of the key set. */
    answer: undefined as { status: number; body: string; headers?: Record<string, string> } | undefined,
    requests: [] as string[],
    metadata: {} as Record<string, unknown>,
  };
  const server = createServer((request, response) => {
    state.requests.push(request.url ?? '');
    const json = (value: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (request.url === '/.well-known/openid-configuration')
      json({ issuer, jwks_uri: `${issuer}/jwks`, ...state.metadata });
    else if (state.answer)
      response.writeHead(state.answer.status, state.answer.headers).end(state.answer.body);
    else json({ keys: state.keys.map(({ jwk }) => jwk) });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const sign = (
    claims: JWTPayload = {},
    { key = state.keys[0], ...header }: { key?: KeyPair | undefined; [name: string]: unknown } = {},
  ): Promise<string> => {
    if (!key) throw new Error('the provider has no key');
    const all = { iss: issuer, sub: '00u1', aud: AUDIENCE, iat: NOW, exp: NOW + 3600, ...claims };
    const { kid, alg } = key;
    return new SignJWT(all).setProtectedHeader({ alg, kid, ...header }).sign(key.privateKey);
  };
  const fetches = (): number => state.requests.filter((url) => url.startsWith('/jwks')).length;
  return { issuer, state, sign, fetches };
};

/** Verification with a fake clock, for issuers with these fields. */
export const verifying = (
  inputs: readonly IssuerInput[],
  { staleSecs = 86_400 }: { staleSecs?: number } = {},
) => {
  const { identity } = settingsFrom({ identity: { issuers: inputs } });
  const clock = { seconds: NOW, now: () => clock.seconds * 1000 };
  const log: unknown[] = [];
  const results: string[] = [];
  const issuers = createIssuers({
    specs: identity.issuers,
    publicUrl: undefined,
    scopeId: 'default',
    staleSecs,
    clock,
    log: { warn: (event, fields) => log.push([event, fields]) },
    observe: (id, result) => results.push(`${id} ${result}`),
  });
  return { issuers, clock, log, results };
};

/** Returns the message of the rejection, or `accepted`. */
export const outcomeOf = async (issuers: Issuers, token: string): Promise<string> => {
  try {
    await issuers.verify(token);
    return 'accepted';
  } catch (error) {
    // The error is one of `src/schema/outcome.ts`, or a bug that the comparison shows.
    const { name, message } = error as Unauthorized;
    return name === 'Unauthorized' ? message.replace('invalid token: ', '') : `${name}: ${message}`;
  }
};
