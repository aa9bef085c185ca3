import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { OUTSIDE, TARGET } from '../.build/programs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

type Named = Record<string, string>;

const { devDependencies, peerDependencies }: { devDependencies: Named; peerDependencies: Named } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** Texts that the console shows contain programs with imports. */
const TEXTS = /`(?:[^`\\]|\\.)*`|"[^"\n]*"/gs;

/** Names of the packages that the sources of the service load. */
const loadedBySources = (): Set<string> => {
  const files = ['src', 'machines'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8').replaceAll(TEXTS, '')),
  );
  const imports = files.flatMap((text) => [
    ...text.matchAll(/^(?!import type).*(?:from |import\(|import )'(@[^/']+\/[^/']+|[^@./'][^/']*)/gm),
  ]);
  return new Set(imports.map(([, name = '']) => name));
};

/** Packages that are only used to test and to measure are not shipped. */
const onlyToTest = (): string[] => {
  const loaded = loadedBySources();
  return Object.keys(devDependencies).filter((name) => !loaded.has(name));
};

/** Build options for all measured or tested programs, with the packages of the service in `.build/programs.ts`. */
export const asShipped = (): BuildOptions => ({
  bundle: true,
  platform: 'node',
  target: TARGET,
  format: 'esm',
  // CommonJS packages load modules of Node with `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.filename);",
  },
  logLevel: 'warning',
  external: [...OUTSIDE, ...Object.keys(peerDependencies), ...onlyToTest()],
});
