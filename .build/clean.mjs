import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes build output, except the console, whose build checks whether it is up to date. */

mkdirSync('dist', { recursive: true });
for (const name of readdirSync('dist')) {
  if (!/^console(\.json)?$/.test(name)) rmSync(join('dist', name), { recursive: true });
}
