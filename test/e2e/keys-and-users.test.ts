import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Ended, runHere } from './in-process.ts';
import { runCommand } from './service.ts';

/** `troupe keys` and `troupe users`: identity.md 1.3, 2.1, 2.2. */

const TOKEN = 'a-token-of-twenty-characters';
const ADMIN = { SERVICE_ADMIN_API_BEARER_TOKEN: TOKEN };

const serve = async (t: Test, data: string, env: Record<string, string> = ADMIN) => {
  const flags = ['--http-addr', '127.0.0.1:0', '--storage-dir', data];
  const service = runCommand(t, ['serve', ...flags], env);
  const [url] = await service.says(/http:\/\/[\d.:]+/);
  return { service, url };
};

const BOT = ['--user', 'ci-bot', '--new-user', 'service', '--user-grant', 'member', 'observe'];

t.test('prints a new key alone, and manages keys and users of a running service (check 23)', async (t) => {
  const data = join(t.testdir(), 'data');
  const { url } = await serve(t, data);
  const at = ['--url', url];
  const troupe = (...args: string[]) => runHere([...args, ...at], ADMIN);
  const created = await troupe('keys', 'create', '--name', 'ci', ...BOT, '--expires', '30d');
  t.match(created, { code: 0, output: /^tpk_[0-9A-Za-z]{49}\n$/, errors: '' });
  const key = created.output.trim();
  const status = async (path = '/v1/threads') =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;
  t.equal(await status('/v1/system/info'), 200);
  const listed = await troupe('keys', 'list', '--json');
  const [{ id, user, expires_at, created_at }] = listed.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match({ user, life: expires_at - created_at }, { user: 'ci-bot', life: 30 * 86_400_000 });
  t.match(
    (await troupe('users', 'grant', 'ci-bot', 'keys')).output,
    /ci-bot {2}service {2}enabled {3}member,observe,keys/,
  );
  await troupe('users', 'disable', 'ci-bot');
  t.equal(await status(), 401);
  await troupe('users', 'enable', 'ci-bot');
  t.equal(await status(), 200);
  const rotated = await troupe('keys', 'rotate', id, '--grace', '24h');
  t.match(rotated.output, /^tpk_\w{49}\n$/);
  t.equal(await status(), 200);
  t.match(
    await runHere(['keys', 'revoke', id, '--cancel-runs', '--offline', '--storage-dir', join(data, 'x')]),
    {
      code: 1,
      errors: /--cancel-runs needs a running service/,
    },
  );
  t.strictSame(await troupe('keys', 'revoke', id, '--cancel-runs'), { code: 0, output: '', errors: '' });
  t.equal(await status(), 401);
  t.match(await troupe('users', 'grant', 'ci-bot', 'nonsense'), { code: 1, errors: /'nonsense' is unknown/ });
  t.match(await troupe('keys', 'create', '--name', 'x', '--expires', 'soon'), {
    code: 1,
    errors: /90d, 24h/,
  });
  t.match(await runHere(['keys', 'list', '--storage-dir', data, '--offline']), {
    code: 1,
    errors: /in use/,
  });
});

t.test('lists users in columns', async (t) => {
  const offline = ['--offline', '--storage-dir', join(t.testdir(), 'data')];
  for (const id of ['app', 'backend'])
    await runHere(['keys', 'create', '--name', id, '--user', id, '--new-user', 'service', ...offline]);
  t.match(
    (await runHere(['users', 'list', ...offline])).output,
    /^app {6}service {2}enabled .*\nbackend {2}service {2}enabled /,
  );
});

t.test('works on the folder of a stopped service (check 23)', async (t) => {
  const data = join(t.testdir(), 'data');
  const offline = (...args: string[]): Promise<Ended> =>
    runHere([...args, '--offline', '--storage-dir', data]);
  const created = await offline('keys', 'create', '--name', 'ci', ...BOT);
  t.match(created, { code: 0, output: /^tpk_\w{49}\n$/ });
  t.match((await offline('users', 'list')).output, /^ci-bot {2}service {2}enabled/);
  t.match((await offline('keys', 'list')).output, /active {3}ci-bot {2}"ci"/);
  const { url } = await serve(t, data);
  const key = created.output.trim();
  const info = await fetch(`${url}/v1/audit-log?user=~admin`, {
    headers: { authorization: `Bearer ${key}` },
  });
  t.match(await info.json(), {
    items: [
      { action: 'create', resource: /^keys\//, actor: '~admin', user: '~admin' },
      { action: 'create', resource: 'users/default/ci-bot' },
    ],
  });
});

/** Creates threads without an owner: some name a user, one names something else, and one is below another. */
const createThreads = async (url: string) => {
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const first = await post('/v1/threads', { resource_id: 'ci-bot' });
  const below = await post('/v1/threads', { parent_thread_id: first.id });
  const other = await post('/v1/threads', { resource_id: 'customer-7' });
  const without = await post('/v1/threads', {});
  return { first: first.id, below: below.id, other: other.id, without: without.id };
};

const threadsOf = async (url: string, headers: Record<string, string>): Promise<Set<string>> => {
  const { items } = (await (await fetch(`${url}/v1/threads`, { headers })).json()) as { items: string[] };
  return new Set(items);
};

for (const where of ['a running', 'a stopped'] as const) {
  t.test(`gives threads of ${where} service to the users that they name (check 100)`, async (t) => {
    const data = join(t.testdir(), 'data');
    const first = await serve(t, data);
    const threads = await createThreads(first.url);
    const at = ['--url', first.url];
    const created = await runHere(['keys', 'create', '--name', 'ci', ...BOT, ...at], ADMIN);
    const bot = { authorization: `Bearer ${created.output.trim()}` };
    const isOffline = where === 'a stopped';
    if (isOffline) {
      first.service.kill('SIGTERM');
      await first.service.ended();
    }
    const adopt = (...flags: string[]) => {
      const to = isOffline ? ['--offline', '--storage-dir', data] : at;
      return runHere(['users', 'adopt', '--from-resource', ...flags, ...to], isOffline ? {} : ADMIN);
    };
    t.match(await runHere(['users', 'adopt', ...at], ADMIN), { code: 1, errors: /--from-resource/ });
    const lines = [
      { thread: threads.other, user: 'customer-7', result: 'no_user' },
      { thread: threads.first, user: 'ci-bot', result: 'would_adopt' },
    ];
    const dry = await adopt('--dry-run', '--json');
    t.match(dry, { code: 0, errors: '' });
    const printed = ({ output }: { output: string }) =>
      new Set(
        output
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
    t.same(printed(dry), new Set(lines));
    t.match((await adopt()).output, new RegExp(`adopted {7}${threads.first} {2}ci-bot`));
    t.same(printed(await adopt('--json')), new Set(lines.slice(0, 1)), 'a second call finds nothing more');
    const { url } = isOffline ? await serve(t, data) : first;
    t.same(await threadsOf(url, bot), new Set([threads.first, threads.below]), 'their ids stay');
    t.same(await threadsOf(url, {}), new Set([threads.other, threads.without]));
  });
}
