import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../schema/outcome.ts';
import { PRIVATE } from './private-files.ts';

/**
 * The folder of a copy of a database. It is emptied before each use, and a power loss leaves it in any state, so it has
 * a mark: only marked folders are emptied, and no store is opened in one.
 */

const MARK = 'copy-of-a-database';

/** The files of `owner.ts`, which are in use. */
const OWNER = 'owner.mdb';

/** @throws Unavailable */
export const refuseCopy = (dir: string): void => {
  if (existsSync(join(dir, MARK)))
    throw new Unavailable(
      `data directory '${dir}' is the copy of a database and is not opened without it: choose another directory`,
    );
};

/**
 * Empties and marks a folder that this process owns.
 *
 * @throws Unavailable when it has other content than that of a copy
 */
export const emptyCopy = (dir: string): void => {
  const entries = readdirSync(dir).filter((name) => !name.startsWith(OWNER));
  if (entries.length > 0 && !entries.includes(MARK))
    throw new Unavailable(
      `copy directory '${dir}' is not empty (${entries.length} entries) and not a copy: choose another directory`,
    );
  writeFileSync(join(dir, MARK), '', { mode: PRIVATE });
  for (const name of entries) if (name !== MARK) rmSync(join(dir, name), { recursive: true, force: true });
};
