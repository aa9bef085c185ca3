import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from './folder.ts';

/**
 * The files of a store are accessible by their owner only, regardless of the mode of the folder and the umask: they
 * contain keys of providers and messages of users.
 */

export const PRIVATE = 0o600;

const FILES = ['data.mdb', 'lock.mdb', 'owner.mdb', 'owner.mdb-lock', 'secrets.key'];
const OTHERS = 0o077;

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Removes the permissions of other users from a file. Returns a description of the problem, if there was one. */
export const makePrivate = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined;
  const mode = modeOf(path);
  if ((mode & OTHERS) === 0) return undefined;
  const was = `'${path}' could be read or written by other users (mode ${mode.toString(8)})`;
  try {
    chmodSync(path, PRIVATE);
    return `${was} and now has mode 600: other users may have read it, so replace the keys and tokens in it`;
  } catch (error) {
    return `${was}, and that cannot be changed (${reasonOf(error)}): set its mode to 600`;
  }
};

/** Returns the problems with the permissions of a folder and of the files of its store. */
export const makeFolderPrivate = (dir: string): string[] => {
  const files = FILES.map((name) => makePrivate(join(dir, name)));
  return [...files, folderProblem(dir)].filter((problem) => problem !== undefined);
};

/** The mode of a folder is not changed, since it may be a mount point, or intentionally shared with other files. */
const folderProblem = (dir: string): string | undefined => {
  const mode = modeOf(dir);
  if ((mode & OTHERS) === 0) return undefined;
  return `data directory '${dir}' is open to other users (mode ${mode.toString(8)}): its files are not, and their names and sizes are; set its mode to 700`;
};
