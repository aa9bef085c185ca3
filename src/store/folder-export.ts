import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import { checkDataFile } from './engine/data-file.ts';
import { closePrivate, createEnvironment, openPrivate, openRoot } from './engine/environment.ts';
import { prepareFolder } from './engine/folder.ts';
import type { Key } from './engine/keys.ts';
import { openingsOf } from './engine/order.ts';
import { takeOwnership } from './engine/owner.ts';
import { type ExportedPage, exportRows, type RowPlace } from './export.ts';
import { openStore } from './store.ts';
import { linkKeyIn } from './tables/files.ts';

/** The rows of a folder that no service uses. */
export type FolderExport = {
  /** Identifies the folder; its copies and backups have the same. */
  readonly id: string;
  /** Increases whenever a program opens the folder to write. */
  readonly openings: number;
  rows(after?: RowPlace): Iterable<ExportedPage>;
  close(): Promise<void>;
};

export type FolderOptions = { dir: string; secretsKey: string | undefined; warn(problem: string): void };

/**
 * Opens a folder, and upgrades it to the format of this version.
 *
 * @throws Unavailable when there is no store, a service uses it, or its secrets have another key
 */
export const openExport = async ({ dir: given, secretsKey, warn }: FolderOptions): Promise<FolderExport> => {
  if (!hasStore(given))
    throw new Unavailable(`'${given}' contains no store: name the data directory of the service`);
  const secrets = secretsKey === undefined ? {} : { secretsKey };
  await (await openStore({ dir: given, durability: 'power', warn, ...secrets })).close();
  const dir = prepareFolder(given);
  const ownership = await takeOwnership(dir);
  let root: RootDatabase | undefined;
  const close = async (): Promise<void> => {
    if (root) await closePrivate(root);
    await ownership.release();
  };
  try {
    root = openRoot(dir);
    const env = createEnvironment(root);
    const meta = env.rows('meta');
    return {
      id: createHash('sha256')
        .update(`folder ${linkKeyIn(meta)}`)
        .digest('hex')
        .slice(0, 16),
      openings: openingsOf(meta),
      rows: (after) => exportRows(env, dir, after),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Whether a store was ever opened in the folder. */
export const hasStore = (dir: string): boolean => existsSync(join(dir, 'data.mdb'));

/** Whether the store of a folder has threads. A process may have the folder open. */
export const hasThreads = async (dir: string): Promise<boolean> => {
  if (!hasStore(dir)) return false;
  checkDataFile(dir);
  const root = openPrivate({ path: dir, noSubdir: false, maxDbs: 128, readOnly: true });
  try {
    if (!Array.from(root.getKeys(), String).includes('threads')) return false;
    const rows = root.openDB<unknown, Key>('threads', { encoding: 'binary' });
    return Array.from(rows.getKeys({ limit: 1 })).length > 0;
  } finally {
    await closePrivate(root);
  }
};
