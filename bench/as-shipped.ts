import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';

/** Left where they are: what is native, what must be the one that others have too, and what is large and rarely used. */
const OUTSIDE = ['elkjs', 'lmdb', 'msgpackr', 'uWebSockets.js', 'xstate'];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

type Named = Record<string, string>;

const { devDependencies, peerDependencies }: { devDependencies: Named; peerDependencies: Named } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** Names of the packages that the sources of the service load. */
const loadedBySources = (): Set<string> => {
  const files = ['src', 'machines'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  const imports = files.flatMap((text) => [
    ...text.matchAll(/^(?!import type).*(?:from |import\(|import )'(@[^/']+\/[^/']+|[^@./'][^/']*)/gm),
  ]);
  return new Set(imports.map(([, name = '']) => name));
};

/** What is only there to test and to measure is not shipped. */
const onlyToTest = (): string[] => {
  const loaded = loadedBySources();
  return Object.keys(devDependencies).filter((name) => !loaded.has(name));
};

/** How sources become programs wherever they are measured or tested: as the script `build:js` makes the service. */
export const asShipped = (): BuildOptions => ({
  bundle: true,
  external: [...OUTSIDE, ...Object.keys(peerDependencies), ...onlyToTest()],
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // Packages that are CommonJS ask for modules of Node with it.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.filename);",
  },
  logLevel: 'warning',
});
