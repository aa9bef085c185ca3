import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Optional dependencies may be omitted from an install, including their types. */
t.test('compiles without optional dependencies', async (t) => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = Object.keys(optionalDependencies).map((name) => name.replaceAll('.', '\\.'));
  t.ok(names.length > 0);
  const imports = new RegExp(`(?:from|import)\\s*\\(?\\s*['"](?:${names.join('|')})[/'"]`);
  const importing = ['src', 'machines', 'bench', 'test', '.build'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name))
      .filter((name) => imports.test(readFileSync(join(ROOT, name), 'utf8'))),
  );
  t.strictSame(importing, []);
});
