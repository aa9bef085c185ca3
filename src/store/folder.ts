import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../schema/outcome.ts';

/**
 * Creates the folder if there is none, readable by its owner only, and resolves links.
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
    throw new Unavailable(`storage folder '${dir}' cannot be used (${reasonOf(cause)}): ${needed}`, {
      cause,
    });
  }
};

/** Where LMDB keeps its mark in the first page of a data file, and the mark in both byte orders. */
const MARK_AT = 24;
const MARKS: readonly string[] = ['dec0efbe', 'beefc0de'];

/**
 * LMDB maps a file into memory as it is, and a file of something else brings the process down.
 * @throws Unavailable when there is a data file that LMDB did not write
 */
export const checkDataFile = (dir: string): void => {
  const file = join(dir, 'data.mdb');
  if (!existsSync(file) || statSync(file).size === 0) return;
  const mark = Buffer.alloc(4);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, mark, 0, mark.length, MARK_AT);
  closeSync(descriptor);
  if (MARKS.includes(mark.toString('hex'))) return;
  throw new Unavailable(
    `storage folder '${dir}' has a data.mdb that is not a store, or is damaged: restore a backup, or choose another folder`,
  );
};

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
