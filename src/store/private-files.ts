import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from './folder.ts';

/**
 * The files of a store are for its user only, whatever the mode of the folder and the umask: they hold keys of
 * providers and what people wrote.
 */

export const PRIVATE = 0o600;

const FILES = ['data.mdb', 'lock.mdb', 'owner.mdb', 'owner.mdb-lock', 'secrets.key'];
const OTHERS = 0o077;

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Takes the permissions of others off a file. Tells what was wrong, or nothing. */
export const makePrivate = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined;
  const mode = modeOf(path);
  if ((mode & OTHERS) === 0) return undefined;
  const was = `'${path}' could be read or written by other users (mode ${mode.toString(8)})`;
  try {
    chmodSync(path, PRIVATE);
    return `${was} and now has mode 600: who had access may know what is in it, so replace the keys and tokens that it holds`;
  } catch (error) {
    return `${was}, and that cannot be changed (${reasonOf(error)}): set its mode to 600`;
  }
};

/** What is wrong with the permissions of a folder and of the files of its store. */
export const makeFolderPrivate = (dir: string): string[] => {
  const files = FILES.map((name) => makePrivate(join(dir, name)));
  return [...files, folderProblem(dir)].filter((problem) => problem !== undefined);
};

/** A folder is left as it is, since it may be a mount point, or shared on purpose with other files. */
const folderProblem = (dir: string): string | undefined => {
  const mode = modeOf(dir);
  if ((mode & OTHERS) === 0) return undefined;
  return `storage folder '${dir}' is open to other users (mode ${mode.toString(8)}): its files are not, and their names and sizes are; set its mode to 700`;
};
