import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { INDEX } from './built.ts';

/** Entries of the package, as imported by sources of the checkout. */
const ENTRY = /\/src\/((?:testing\/)?index)\.ts$/;

const builtService: Plugin = {
  name: 'built service',
  setup(building) {
    building.onResolve({ filter: ENTRY }, ({ path }) => ({
      path: pathToFileURL(join(dirname(INDEX), `${ENTRY.exec(path)?.[1]}.js`)).href,
      external: true,
    }));
  },
};

/**
 * Compiles a program against the built package, so that the service is not compiled again for each program.
 *
 * @param outfile inside the project, where packages are resolved
 */
export const compileOnBuilt = async (source: string, outfile: string): Promise<void> => {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
    plugins: [builtService],
  });
};
