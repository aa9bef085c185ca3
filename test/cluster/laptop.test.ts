import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { SHORT_LIVED, unhooked } from '../child.ts';
import { blocks } from '../docs/pages.ts';
import { MAIN } from '../e2e/built.ts';
import { freePort } from '../ports.ts';
import { NO_POSTGRES, pathOf, serverUser, unprivilegedCommand } from './programs.ts';

/** The commands of the page for operators of clusters, as they stand there but for ports and paths. */

const PAGE = 'src/docs/operate/cluster.md';
const TTL_MS = 2000;

const run = promisify(execFile);

t.test('two members on a laptop', { skip: NO_POSTGRES }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-laptop-'));
  const user = serverUser();
  if (user !== undefined) spawnSync('chown', [user, dir]);
  const [first, second, server] = [await freePort(), await freePort(), await freePort()];
  const here = (text: string): string =>
    text
      .replaceAll('/usr/lib/postgresql/15/bin', dirname(pathOf('postgres')))
      .replaceAll('npx troupe', `node ${SHORT_LIVED.join(' ')} ${MAIN}`)
      .replaceAll(':38080', `:${first}`)
      .replaceAll(':38081', `:${second}`)
      .replaceAll('45432', `${server}`);
  const commands = blocks('sh').filter(({ file }) => file === PAGE);
  const isOfServer = ({ text }: { text: string }): boolean => text.includes('pg_ctl');
  const [start = '', stop = ''] = commands.filter(isOfServer).map(({ text }) => here(text));
  const members = commands.filter((block) => !isOfServer(block)).map(({ text }) => here(text));
  t.equal(commands.length, 6, 'every block of the page is run');

  const pg = start.split('\n', 1)[0] ?? '';
  const asServer = (text: string) => {
    const [command, args] = unprivilegedCommand('bash', ['-ec', `cd '${dir}'\n${text}`]);
    return run(command, args, { cwd: '/' });
  };
  await asServer(start);
  t.teardown(async () => {
    await asServer(`${pg}\n${stop}`);
    rmSync(dir, { recursive: true, force: true });
  });
  const script = `set -m\ntrap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT\n${members.join('\necho\n')}`;
  const { stdout } = await run(...unhooked('bash', ['-c', script]), {
    cwd: dir,
    env: { ...process.env, SERVICE_LEASE_TTL_MS: `${TTL_MS}` },
    timeout: 120_000,
  });
  const lists = stdout.split('\n').filter((line) => line.includes('"mode":"postgres"'));
  t.equal(lists.length, 2);
  const [before, after] = lists.map((line) => JSON.parse(line));
  t.match(before.members.map(({ name }: { name: string }) => name).toSorted(), ['a', 'b']);
  const active = after.members.filter(({ state }: { state: string }) => state === 'active');
  t.match(active, [{ name: 'b', self: true }]);
});
