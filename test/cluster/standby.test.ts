import t from 'tap';
import { ADMIN } from '../crash/process.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { becomes, createMembers, eventually, healthOf, type Member } from './services.ts';

/** Requests that a member answers itself, because they need no data (cluster.md 1.3). */

t.setTimeout(600_000);

const ORIGIN = 'http://localhost:5173';
const CORS = { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: ORIGIN };

type Answer = { status: number; headers: Record<string, string>; body: string };

const ask = async ({ url }: Member, path: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(url + path, init);
  const { 'x-request-id': _, date: __, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
};

const preflight = (member: Member): Promise<Answer> =>
  ask(member, '/v1/runs', {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });

/** A file of the console that exists also before the console is built. */
const FILE = '/console-config.json';

t.test('a member that is isolated', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const [member] = await createMembers(t, ['a'], {
    url: postgres.url(postgres.createDatabase()),
    env: CORS,
  });
  if (!member) throw new Error('a member was expected');
  await member.start();
  await becomes(member, 'active');
  const allowed = await preflight(member);
  t.match(allowed, { status: 204, headers: { 'access-control-allow-origin': ORIGIN } });
  const file = await ask(member, FILE);
  await postgres.stop();
  await eventually('it is isolated', async () => (await healthOf(member)).member === 'isolated' || undefined);

  t.strictSame(await preflight(member), allowed, 'a preflight has the same response');
  t.strictSame(await ask(member, FILE), file, 'a file of the console is the same');
  const list = await ask(member, '/v1/system/members', { headers: ADMIN });
  t.equal(list.status, 200);
  t.match(JSON.parse(list.body), {
    database: { status: 'error' },
    members: [{ name: 'a', state: 'isolated', self: true }],
  });
  const unknown = { authorization: `Bearer ${'y'.repeat(40)}` };
  t.equal((await ask(member, '/v1/system/members', { headers: unknown })).status, 401);
  const key = { authorization: `Bearer tpk_${'y'.repeat(40)}` };
  t.equal((await ask(member, '/v1/system/members', { headers: key })).status, 503, 'a key may be valid');
  t.match(await ask(member, '/v1/threads', { headers: ADMIN }), {
    status: 503,
    headers: { 'retry-after': String },
  });
});

t.test('a standby whose active member cannot be reached', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const [active, standby] = await createMembers(t, ['a', 'b'], {
    url: postgres.url(postgres.createDatabase()),
    env: { ...CORS, SERVICE_LEASE_TTL_MS: '120000' },
  });
  if (!active || !standby) throw new Error('two members were expected');
  await active.start();
  await becomes(active, 'active');
  await standby.start();
  await becomes(standby, 'standby');
  const { headers: byActive, ...allowed } = await preflight(active);
  await active.kill();
  t.strictSame(await preflight(standby), { ...allowed, headers: { ...byActive, 'x-troupe-member': 'b' } });
  t.equal((await ask(standby, '/v1/threads', { headers: ADMIN })).status, 503);
});
