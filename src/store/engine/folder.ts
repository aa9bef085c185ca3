import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { Unavailable } from '../../schema/outcome.ts';

/**
 * Creates the folder if necessary, accessible by its owner only, and resolves links.
 *
 * @throws Unavailable when it cannot be used
 */
export const prepareFolder = (dir: string): string => {
  const needed = 'it must be a folder that this process may read, write and create files in';
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!statSync(dir).isDirectory()) throw new Error('it is not a folder');
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(dir);
  } catch (cause) {
    throw new Unavailable(`data directory '${dir}' cannot be used (${reasonOf(cause)}): ${needed}`, {
      cause,
    });
  }
};

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
