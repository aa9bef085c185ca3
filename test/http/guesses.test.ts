import t from 'tap';
import { route } from '../../src/http/route.ts';
import { createGuesses, MOST_FAILURES, MOST_UNVERIFIED } from '../../src/identity/guesses.ts';
import { Unauthorized } from '../../src/schema/outcome.ts';
import { type ServeOptions, serve } from './serve.ts';

const LONG_TOKEN = 'a-token-of-more-than-twenty-characters';
const SHORT_TOKEN = 'short';

const routes = [
  route.get('/admin', {
    id: 'getAdmin',
    summary: 'for the admin',
    needs: 'observe',
    responses: { 200: 'empty' },
    handle: () => undefined,
  }),
];

const start = async (t: Parameters<typeof serve>[0], options: ServeOptions = {}) => {
  const lines: object[] = [];
  const { url } = await serve(t, routes, {
    log: {
      error() {},
      warn: (_, fields = {}) => lines.push(fields),
      info() {},
      debug() {},
      isLevelEnabled: () => false,
    },
    ...options,
  });
  const guess = async (token: string | undefined, ip = '203.0.113.7') => {
    const headers = {
      'x-forwarded-for': ip,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${url}/admin`, { headers });
    await response.text();
    return response;
  };
  const fail = async (times: number, ip?: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let at = 0; at < times; at += 1) statuses.push((await guess(`wrong-${at}`, ip)).status);
    return statuses;
  };
  return { guess, fail, lines };
};

t.test('limits wrong tokens per address with 429, but always checks a long valid token', async (t) => {
  const { guess, fail } = await start(t, { adminToken: LONG_TOKEN });
  const statuses = await fail(MOST_FAILURES + 5);
  t.strictSame(new Set(statuses.slice(0, MOST_FAILURES)), new Set([401]));
  t.equal(statuses.at(-1), 429);
  const limited = await guess('wrong');
  t.ok(Number(limited.headers.get('retry-after')) >= 1);
  t.equal((await guess(LONG_TOKEN)).status, 200);
  t.equal((await guess('wrong', '203.0.113.8')).status, 401, 'another address has another limit');
});

t.test('rejects a short token during too many failures, from the same address only', async (t) => {
  const { guess, fail } = await start(t, { adminToken: SHORT_TOKEN });
  await fail(MOST_FAILURES + 5);
  t.equal((await guess(SHORT_TOKEN)).status, 429);
  t.equal((await guess(SHORT_TOKEN, '203.0.113.8')).status, 200);
});

t.test('does not count requests without a credential', async (t) => {
  const { guess } = await start(t, { adminToken: LONG_TOKEN });
  for (let at = 0; at < MOST_FAILURES * 2; at += 1) t.equal((await guess(undefined)).status, 401);
  t.equal((await guess('wrong')).status, 401);
});

t.test('logs failures with the address, without the token, and not each of them', async (t) => {
  const { fail, lines } = await start(t, { adminToken: LONG_TOKEN });
  await fail(MOST_FAILURES);
  t.ok(lines.length >= 1 && lines.length < MOST_FAILURES);
  t.match(lines[0], { ip: '203.0.113.7', failures: 1 });
  t.notMatch(JSON.stringify(lines), /wrong-/);
});

t.test('verifies 20 unknown access tokens a second while the bucket of their address is full', (t) => {
  let time = 0;
  const guesses = createGuesses({
    token: LONG_TOKEN,
    observe() {},
    log: { warn() {} },
    now: () => time,
  });
  const address = '203.0.113.7';
  const admitted = (from = address): boolean => {
    try {
      guesses.checkUnverified(() => from);
      return true;
    } catch {
      return false;
    }
  };
  const countAdmitted = (attempts: number): number =>
    Array.from({ length: attempts }, () => admitted()).filter((isAdmitted) => isAdmitted).length;

  t.equal(countAdmitted(100), 100, 'all, while the bucket is not full');
  for (let at = 0; at < MOST_FAILURES; at += 1) guesses.failed(address, new Unauthorized('wrong'));
  t.equal(countAdmitted(100), MOST_UNVERIFIED);
  t.ok(admitted('203.0.113.8'), 'another address is not limited');
  time += 1000;
  guesses.failed(address, new Unauthorized('wrong'));
  t.equal(countAdmitted(100), MOST_UNVERIFIED, 'again in the next second');
  time += 60_000;
  t.equal(countAdmitted(100), 100, 'all, once the bucket has drained');
  t.end();
});

t.test('refills a bucket over time, shares it within a /64, and forgets addresses', (t) => {
  let time = 0;
  const outcomes: string[] = [];
  const guesses = createGuesses({
    token: LONG_TOKEN,
    observe: (outcome) => outcomes.push(outcome),
    log: { warn() {} },
    now: () => time,
  });
  const error = new Unauthorized('wrong');
  const isRefused = (address: string): boolean => guesses.failed(address, error) === error;
  for (let at = 0; at < MOST_FAILURES; at += 1) t.equal(isRefused(`2001:db8::${at + 1}`), true);
  t.equal(isRefused('2001:db8::ffff'), false);
  t.equal(isRefused('2001:db8:0:1::1'), true, 'another /64 has another bucket');
  time += 3000;
  t.equal(isRefused('2001:db8::1'), true);
  t.equal(isRefused('2001:db8::1'), false);
  for (let at = 0; at < 20_000; at += 1)
    guesses.failed(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, error);
  t.equal(isRefused('2001:db8::1'), true, 'ten thousand newer addresses evict the oldest one');
  t.ok(outcomes.includes('limited'));
  t.end();
});
