import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes build output, except the console and the manual, whose builds check whether they are up to date. */

mkdirSync('dist', { recursive: true });
for (const name of readdirSync('dist')) {
  if (!/^(console(\.json)?|docs)$/.test(name)) rmSync(join('dist', name), { recursive: true });
}
