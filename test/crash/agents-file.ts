import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { INDEX } from '../e2e/built.ts';

const SOURCE = fileURLToPath(new URL('./child-agents.ts', import.meta.url));

/** Compiles the agents into a config file that the built service loads; the public API in it is the built one. */
export const writeAgents = async (dir: string): Promise<string> => {
  const outfile = join(dir, 'agents.mjs');
  await build({
    entryPoints: [SOURCE],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
    plugins: [
      {
        name: 'built service',
        setup(building) {
          building.onResolve({ filter: /src\/index\.ts$/ }, () => ({
            path: pathToFileURL(INDEX).href,
            external: true,
          }));
        },
      },
    ],
  });
  return outfile;
};
