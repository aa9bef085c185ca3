import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { OUTSIDE, SERVICE } from '../.build/programs.ts';

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

/** How sources become programs wherever they are measured or tested: as `.build/programs.ts` makes the service. */
export const asShipped = (): BuildOptions => ({
  ...SERVICE,
  external: [...OUTSIDE, ...Object.keys(peerDependencies), ...onlyToTest()],
});
