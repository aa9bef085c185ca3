import { readFileSync } from 'node:fs';
import type { BuildOptions } from 'esbuild';

/** Left where they are: what is native, what must be the one that others have too, and what is large and rarely used. */
const OUTSIDE = ['elkjs', 'lmdb', 'msgpackr', 'uWebSockets.js', 'xstate'];

/** What is only there to test and to measure is not shipped. */
const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** How sources become programs wherever they are measured or tested: as the script `build:js` makes the service. */
export const AS_SHIPPED: BuildOptions = {
  bundle: true,
  external: [...OUTSIDE, ...Object.keys(devDependencies)],
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // Packages that are CommonJS ask for modules of Node with it.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.filename);",
  },
  logLevel: 'warning',
};
