import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { renderUnit } from '../../src/commands/systemd/unit.ts';
import { settingsFrom, unknownVariables } from '../../src/settings/index.ts';
import { MAIN } from '../e2e/built.ts';
import { runCommand } from '../e2e/service.ts';

/** The systemd unit, validated by systemd itself. */

const settings = settingsFrom({});

const lineOf = (unit: string, name: string): string | undefined =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

const printed = async (t: Parameters<typeof runCommand>[0], ...flags: string[]) => {
  const command = runCommand(t, ['systemd', ...flags], { SERVICE_LOG_LEVEL: 'silent' });
  return { code: await command.ended(), unit: command.output(), errors: command.errors() };
};

t.test('the unit starts this program with the given settings, and systemd accepts it', async (t) => {
  const { unit, code } = await printed(t, '--http-addr', '0.0.0.0:8080', '--shutdown-timeout-ms', '60000');
  t.equal(code, 0);
  const [node, , , main, command] = lineOf(unit, 'ExecStart')?.split(' ') ?? [];
  t.ok(existsSync(node ?? ''), 'the path of Node exists');
  t.equal(main, MAIN);
  t.equal(command, 'serve');
  t.equal(lineOf(unit, 'TimeoutStopSec'), '75', 'the timeout exceeds the duration of a graceful stop');
  const variables = Array.from(unit.matchAll(/^Environment=(\w+)=(.*)$/gm), ([, name, value]) => [
    name,
    value,
  ]);
  t.strictSame(Object.fromEntries(variables), {
    SERVICE_HTTP_ADDR: '0.0.0.0:8080',
    SERVICE_SHUTDOWN_TIMEOUT_MS: '60000',
    SERVICE_STORAGE_DIR: '/var/lib/troupe',
  });
  t.notMatch(lineOf(unit, 'MemoryDenyWriteExecute'), 'yes', 'V8 generates code at run time');

  const file = join(t.testdir({ 'troupe.service': unit }), 'troupe.service');
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  const verified = analyze('verify');
  if (verified.error) {
    t.pass('skipped: there is no systemd-analyze');
    return;
  }
  t.strictSame([verified.status, verified.stderr.includes(file)], [0, false], verified.stderr);
  const secured = analyze('security', '--offline=true', '--threshold=25');
  // Older versions inspect only running units.
  if (/unrecognized|unknown option/i.test(secured.stderr)) return;
  t.equal(secured.status, 0, secured.stdout.split('\n').slice(-3).join('\n'));
});

t.test(
  'the unit contains no secret, since every user can read it, and uses the data directory of systemd',
  async (t) => {
    const secret = await printed(t, '--secrets-key', 'value-of-a-secret');
    t.match(secret, {
      code: 1,
      unit: '',
      errors: /--secrets-key is a secret: put SERVICE_SECRETS_KEY=… into/,
    });
    t.notMatch(secret.errors, 'value-of-a-secret');
  },
);

t.test('a unit escapes text that systemd would interpret', async (t) => {
  const unit = renderUnit({
    node: '/opt/with space/$v/node',
    main: '/srv/100%/main.js',
    settings: { ...settings, http_addr: '0.0.0.0:443' },
    variables: { SERVICE_RELEASE_TAG: 'say "50 %" $HOME' },
  });
  t.match(lineOf(unit, 'ExecStart'), /^"\/opt\/with space\/\$\$v\/node" .* \/srv\/100%%\/main\.js serve$/);
  t.equal(lineOf(unit, 'Environment'), '"SERVICE_RELEASE_TAG=say \\"50 %%\\" $HOME"');
  t.equal(lineOf(unit, 'AmbientCapabilities'), 'CAP_NET_BIND_SERVICE', 'the port is below 1024');
  const onSocket = renderUnit({
    node: '/n',
    main: '/m',
    settings: { ...settings, http_addr: 'unix:/run/troupe/troupe.sock' },
    variables: {},
  });
  t.equal(lineOf(onSocket, 'AmbientCapabilities'), '');
  t.equal(lineOf(onSocket, 'RuntimeDirectory'), 'troupe', 'the folder contains the Unix socket');
  const free = renderUnit({ node: '/n', main: '/m', settings, variables: {} });
  t.equal(lineOf(free, 'AmbientCapabilities'), '');
  t.strictSame(
    unknownVariables(Object.fromEntries([...unit.matchAll(/SERVICE_\w+/g)].map(([name]) => [name, '']))),
    [],
  );
});
