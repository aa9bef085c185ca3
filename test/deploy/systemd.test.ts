import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { unitOf } from '../../src/commands/systemd/unit.ts';
import { settingsFrom, unknownVariables } from '../../src/settings.ts';
import { MAIN } from '../e2e/built.ts';
import { runCommand } from '../e2e/service.ts';

/** The unit of systemd, and what systemd itself says of it. */

const settings = settingsFrom({});

const lineOf = (unit: string, name: string): string | undefined =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

const printed = async (t: Parameters<typeof runCommand>[0], ...flags: string[]) => {
  const command = runCommand(t, ['systemd', ...flags], { SERVICE_LOG_LEVEL: 'silent' });
  return { code: await command.ended(), unit: command.output(), errors: command.errors() };
};

t.test('the unit starts this program with the settings that are given, and systemd takes it', async (t) => {
  const { unit, code } = await printed(t, '--http-addr', '0.0.0.0:8080', '--shutdown-timeout-ms', '60000');
  t.equal(code, 0);
  const [node, , , main, command] = lineOf(unit, 'ExecStart')?.split(' ') ?? [];
  t.ok(existsSync(node ?? ''), 'the program of Node is there');
  t.equal(main, MAIN);
  t.equal(command, 'serve');
  t.equal(lineOf(unit, 'TimeoutStopSec'), '75', 'longer than a graceful stop takes');
  const variables = Array.from(unit.matchAll(/^Environment=(\w+)=(.*)$/gm), ([, name, value]) => [
    name,
    value,
  ]);
  t.strictSame(Object.fromEntries(variables), {
    SERVICE_HTTP_ADDR: '0.0.0.0:8080',
    SERVICE_SHUTDOWN_TIMEOUT_MS: '60000',
    SERVICE_STORAGE_DIR: '/var/lib/troupe',
  });
  t.notMatch(lineOf(unit, 'MemoryDenyWriteExecute'), 'yes', 'V8 makes code');

  const file = join(t.testdir({ 'troupe.service': unit }), 'troupe.service');
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  const verified = analyze('verify');
  if (verified.error) {
    t.pass('skipped: there is no systemd-analyze');
    return;
  }
  t.strictSame([verified.status, verified.stderr.includes(file)], [0, false], verified.stderr);
  const secured = analyze('security', '--offline=true', '--threshold=25');
  // Older ones look at running units only.
  if (/unrecognized|unknown option/i.test(secured.stderr)) return;
  t.equal(secured.status, 0, secured.stdout.split('\n').slice(-3).join('\n'));
});

t.test(
  'what everybody can read in a unit is no secret, and the data folder is that of systemd',
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

t.test('a unit spells what systemd would read otherwise', async (t) => {
  const unit = unitOf({
    node: '/opt/with space/$v/node',
    main: '/srv/100%/main.js',
    settings: { ...settings, http_addr: '0.0.0.0:443' },
    variables: { SERVICE_RELEASE_TAG: 'say "50 %" $HOME' },
  });
  t.match(lineOf(unit, 'ExecStart'), /^"\/opt\/with space\/\$\$v\/node" .* \/srv\/100%%\/main\.js serve$/);
  t.equal(lineOf(unit, 'Environment'), '"SERVICE_RELEASE_TAG=say \\"50 %%\\" $HOME"');
  t.equal(lineOf(unit, 'AmbientCapabilities'), 'CAP_NET_BIND_SERVICE', 'for a port below 1024');
  const onSocket = unitOf({
    node: '/n',
    main: '/m',
    settings: { ...settings, http_addr: 'unix:/run/troupe/troupe.sock' },
    variables: {},
  });
  t.equal(lineOf(onSocket, 'AmbientCapabilities'), '');
  t.equal(lineOf(onSocket, 'RuntimeDirectory'), 'troupe', 'the folder of a Unix socket');
  const free = unitOf({ node: '/n', main: '/m', settings, variables: {} });
  t.equal(lineOf(free, 'AmbientCapabilities'), '');
  t.strictSame(
    unknownVariables(Object.fromEntries([...unit.matchAll(/SERVICE_\w+/g)].map(([name]) => [name, '']))),
    [],
  );
});
