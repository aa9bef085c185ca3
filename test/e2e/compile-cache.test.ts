import { readdirSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { runCommand } from './service.ts';

/** The compile cache of Node, which shortens the starts after the first one. */

const skip = 'flushCompileCache' in module ? false : 'this version of Node has no compile cache';

t.test('a killed service leaves the compile cache for the next start', { skip }, async (t) => {
  const dir = t.testdir({ cache: {}, data: {} });
  const cache = join(dir, 'cache');
  const { child, says } = runCommand(
    t,
    ['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', join(dir, 'data')],
    { NODE_COMPILE_CACHE: cache },
  );
  await says(/Troupe is ready/);
  const files = (): string[] =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => !name.endsWith('-0'));
  while (files().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill('SIGKILL');
  t.ok(files().length > 0);
});
