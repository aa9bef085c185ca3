import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { nodeCommand } from '../child.ts';
import { ask } from '../examples/ask.ts';
import { MAIN } from './built.ts';

/** The command line on a pseudo terminal, created by `script` of util-linux. */

/** The reason if there is none: `script` is missing or incompatible, or the system has no pseudo terminals. */
const noTerminal = (): string | false => {
  const probe = spawnSync('script', ['-qec', 'test -t 1', '/dev/null'], { encoding: 'utf8' });
  if (probe.status === 0) return false;
  return `\`script\` of util-linux makes no pseudo terminal here: ${probe.error?.message ?? probe.stderr.trim()}`;
};

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

t.test('dev reports its start, each run and its stop on a terminal', { skip: noTerminal() }, async (t) => {
  const dir = join(t.testdir(), 'data');
  const dev = ['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', dir];
  const [command, args] = nodeCommand([MAIN, ...dev]);
  const line = `stty cols 100; exec ${quoted([command, ...args])}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', SERVICE_HTTP_ADRR: 'x' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const says = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(stripVTControlCharacters(output));
      if (found) return found[1] ?? '';
      if (child.exitCode !== null) throw new Error(`it ended without saying ${pattern}: ${output}`);
      await Promise.race([once(child.stdout, 'data'), ended]);
    }
  };
  await says(
    /warning +unknown environment variable\s+SERVICE_HTTP_ADRR is not a setting; did you mean SERVICE_HTTP_ADDR\?/,
  );
  const url = await says(/API +(http:\S+)/);
  await says(/Agents +default, .* and \d+ more/);
  const token = await says(/Admin token +([\w-]{32})\s/);
  t.equal(await says(/Console +(\S+)/), `${url}/#token=${token}`, 'the output has one link that signs in');
  await says(/kept in .*admin-token/);
  await says(/Try it:/);
  t.match(output, '\u001b[1mTroupe is ready.', 'the output is colored');
  await ask(url, 'default', 'Hello');
  await says(/\d\d:\d\d:\d\d +done +default +\d+ ms +\d+ in, \d+ out +…\w{8}/);
  child.stdin.write('\u0003');
  await says(/stopping.*\s+.*stopped/);
  await ended;
  t.equal(child.exitCode, 0);
  t.notMatch(output, '{"level"', 'the output has no JSON');
  t.notMatch(output, 'Troupe: stopping', 'the stop is reported once');
});
