import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Takes away what was built, but for the console: its own build knows whether that is up to date. */

mkdirSync('dist', { recursive: true });
for (const name of readdirSync('dist')) {
  if (!/^console(\.json)?$/.test(name)) rmSync(join('dist', name), { recursive: true });
}
