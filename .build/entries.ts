import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './sources.ts';

/** The entry points of the package, as its manifest lists them. */

export type Entry = {
  /** The name that programs import, such as `troupe/client`. */
  module: string;
  /** The source relative to the root of the project. */
  source: string;
  /** The output without an extension, relative to `dist`. */
  output: string;
  /** The page of the API reference, such as `api/client`. */
  page: string;
};

type Manifest = { name: string; exports: Record<string, { types: string } | string> };

const { name, exports }: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

export const ENTRIES: readonly Entry[] = Object.entries(exports).flatMap(([path, entry]) => {
  if (typeof entry === 'string') return [];
  const output = posix.relative('dist', entry.types).replace(/\.d\.ts$/, '');
  const module = posix.join(name, path);
  return { module, source: `${output}.ts`, output, page: `api/${posix.basename(module)}` };
});
