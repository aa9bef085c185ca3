import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from './benchmark.ts';
import { programFile } from './program.ts';
import type { AgentsOptions } from './programs/agents.ts';

/** Writes a module for `--config` with the agents of `programs/agents.ts`. */
export const agentsModule = ({ build, folder }: Context, options: AgentsOptions): string => {
  const file = join(folder(), 'troupe.config.mjs');
  const agents = JSON.stringify(pathToFileURL(programFile(build, 'agents')).href);
  writeFileSync(
    file,
    `import { agents } from ${agents};\nexport default agents(${JSON.stringify(options)});\n`,
  );
  return file;
};
