import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { Benchmark, Context } from './benchmark.ts';
import { measureOwnedRuns } from './owned-runs.ts';
import { inspect, inspectedFlags } from './provider/inspected.ts';
import { createRequester, type Requester } from './requests.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Aim, Measured } from './row.ts';
import { ADMIN_TOKEN, type Server, startTroupe } from './servers.ts';

/** Costs of credentials, of owners of threads and of remembered tokens: check 101. */

const CONNECTIONS = 16;
const ISSUER = 'https://login.bench.example';
const AUDIENCE = 'https://agents.bench.example';
const HOUR_SECS = 3600;

type Signer = { jwk: JWK; sign(claims: Record<string, string>): Promise<string> };

const createSigner = async (): Promise<Signer> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'ES256', use: 'sig' };
  const sign: Signer['sign'] = (claims) => {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: ISSUER, aud: AUDIENCE, sub: 'person', iat: now, exp: now + HOUR_SECS, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'bench' }).sign(privateKey);
  };
  return { jwk, sign };
};

const variablesFor = (jwk: JWK): Record<string, string> => ({
  SERVICE_ANONYMOUS_ACCESS: 'loopback',
  SERVICE_IDENTITY_ISSUERS: JSON.stringify([
    {
      id: 'bench',
      issuer: ISSUER,
      audiences: [AUDIENCE],
      jwks: { keys: [jwk] },
      default_grants: ['member'],
    },
  ]),
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const createKey = async (
  { send }: Requester,
  user: string,
  grants: readonly string[],
  kind: 'person' | 'service' = 'person',
): Promise<string> => {
  const { text } = await send({
    method: 'POST',
    path: '/v1/keys',
    headers: bearer(ADMIN_TOKEN),
    body: JSON.stringify({ name: 'bench', user, new_user: { kind, grants } }),
  });
  const { key }: { key: string } = JSON.parse(text);
  return key;
};

const row = (metric: string, unit: string, value: number, aim: Aim, p99?: number): Measured => ({
  metric,
  unit,
  aim,
  rounds: [{ value, ...(p99 !== undefined && { p99 }) }],
});

const atMost = (most: number): Aim => ({ of: 'value', most });

const WARMING = 20;
const COMPARED = 100;

/** The response is the same for every caller, so that the differences are those of the credentials alone. */
const SAME_FOR_ALL = '/v1/models/bench-plain';

const measureRequests = async (
  { short, note }: Context,
  requester: Requester,
  { sign }: Signer,
  key: string,
): Promise<Measured[]> => {
  // Many short rounds: the differences are smaller than what the speed of a core changes by within seconds.
  const count = short ? 50 : 500;
  const token = await sign({});
  const fresh = await Promise.all(
    Array.from({ length: short ? 20 : 2000 }, (_, index) => sign({ jti: `${index}` })),
  );
  const send = (headers: Record<string, string>) => () =>
    requester.cost(count, () => ({ path: SAME_FOR_ALL, headers }));
  const variants = { none: send({}), key: send(bearer(key)), token: send(bearer(token)) };
  await interleaved(short ? 1 : WARMING, variants);
  const costs = await interleaved(short ? 1 : COMPARED, variants);
  const unseen = await requester.cost(fresh.length, (index) => ({
    path: SAME_FOR_ALL,
    headers: bearer(fresh[index] ?? ''),
  }));
  const none = median(costs.none);
  const differences = (values: readonly number[]): number =>
    median(values.map((value, round) => value - (costs.none[round] ?? Number.NaN)));
  note(`a request without a credential: ${none.toFixed(1)} µs of CPU; differences are medians of rounds`);
  return [
    row('a request with an API key, more than without', 'µs of CPU', differences(costs.key), atMost(4)),
    row('a request with a known token, more than without', 'µs of CPU', differences(costs.token), atMost(4)),
    row('the first request with a token, more than without', 'µs of CPU', unseen - none, atMost(350)),
  ];
};

/** Few threads are the user's own, some are shared by other users, and most are private ones of other users. */
const OWN = 200;
const SHARED = 2000;
const USERS = 500;

const measureLists = async ({ short }: Context, requester: Requester, key: string): Promise<Measured> => {
  const front = await createKey(requester, 'front', ['member', 'act'], 'service');
  const threads = short ? 300 : 100_000;
  const ownerOf = (index: number): Record<string, string> =>
    index % Math.ceil(threads / OWN) === 0
      ? bearer(key)
      : { ...bearer(front), 'x-service-user': `user-${index % (short ? 5 : USERS)}` };
  const shareEvery = Math.ceil(threads / SHARED);
  await requester.cost(threads, (index) => ({
    method: 'POST',
    path: '/v1/threads',
    headers: ownerOf(index),
    body: index % shareEvery === 1 ? '{"visibility":"read"}' : '{}',
  }));
  const measure = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let round = 0; round < (short ? 20 : 2000); round += 1) {
      const { ms } = await requester.send({ path: '/v1/threads?limit=50', headers: bearer(key) });
      times.push(ms);
    }
    return times;
  };
  // The first requests are interpreted, and share the core with what the many writes have left to collect.
  await measure();
  const times = await measure();
  const p99 = percentile(times, 99);
  return row(
    `a page of a user's threads among ${threads.toLocaleString('en')}`,
    'ms',
    median(times),
    { of: 'p99', most: 2 },
    p99,
  );
};

const measureMemory = async (
  context: Context,
  server: Server,
  requester: Requester,
  { sign }: Signer,
): Promise<Measured> => {
  const count = context.short ? 20 : 9000;
  const tokens = await Promise.all(Array.from({ length: count }, (_, index) => sign({ jti: `m${index}` })));
  // The response to this question is a number.
  const heapBytes = async (): Promise<number> => (await inspect(server, 'heap bytes')) as number;
  const before = await heapBytes();
  await requester.cost(count, (index) => ({
    path: '/v1/threads?limit=1',
    headers: bearer(tokens[index] ?? ''),
  }));
  const value = (await heapBytes()) - before;
  return row('a remembered principal', 'bytes of the heap', value / count, atMost(1024));
};

export const identity: Benchmark = {
  name: 'identity',
  title: 'identity: credentials, owners of threads, and remembered tokens',
  rounds: 1,
  async run(context) {
    const signer = await createSigner();
    const variables = variablesFor(signer.jwk);
    const server = await startTroupe(context, { variables, ...inspectedFlags(context) });
    const requester = createRequester(server, context.short ? 2 : CONNECTIONS);
    try {
      const memory = await measureMemory(context, server, requester, signer);
      const key = await createKey(requester, 'alice', ['member']);
      return [
        ...(await measureRequests(context, requester, signer, key)),
        await measureOwnedRuns(context, server, bearer(key)),
        await measureLists(context, requester, key),
        memory,
      ];
    } finally {
      requester.close();
      await server.process.stop();
    }
  },
};
