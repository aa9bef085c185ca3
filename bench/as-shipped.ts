import type { BuildOptions } from 'esbuild';

/** How sources become programs wherever they are measured or tested: as the script `build:js` makes the service. */
export const AS_SHIPPED = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  logLevel: 'warning',
} as const satisfies BuildOptions;
