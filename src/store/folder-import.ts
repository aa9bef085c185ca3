import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Unavailable } from '../schema/outcome.ts';
import { closePrivate, openRoot } from './engine/environment.ts';
import { prepareFolder } from './engine/folder.ts';
import { takeOwnership } from './engine/owner.ts';
import type { ShippedRow } from './engine/sink.ts';
import { fill } from './load.ts';
import { openStore } from './store.ts';

export type ImportOptions = {
  /** Must be empty, or not exist. */
  dir: string;
  secretsKey: string | undefined;
  rows: AsyncIterable<readonly ShippedRow[]>;
  warn(problem: string): void;
};

/** @throws Unavailable */
export const refuseUsedFolder = (dir: string): void => {
  const count = existsSync(dir) ? readdirSync(dir).length : 0;
  if (count > 0)
    throw new Unavailable(`folder '${dir}' is not empty (${count} entries): name a new or an empty one`);
};

/**
 * Creates the folder of a store from the rows of a database.
 *
 * Guarantees: the folder has its name when it is complete. An interruption leaves a folder next to it, with `.copying`
 * behind its name, which the next import replaces.
 *
 * @throws Unavailable when the folder is not empty or cannot be written
 */
export const importFolder = async ({ dir: given, rows, secretsKey, warn }: ImportOptions): Promise<void> => {
  const target = resolve(given);
  refuseUsedFolder(target);
  const dir = prepareFolder(`${target}.copying`);
  await fillFolder(dir, rows);
  const secrets = secretsKey === undefined ? {} : { secretsKey };
  await (await openStore({ dir, durability: 'power', warn, ...secrets })).close();
  refuseUsedFolder(target);
  renameSync(dir, target);
};

/** Replaces the content of a folder. @throws Unavailable when a service uses it */
export const fillFolder = async (dir: string, rows: AsyncIterable<readonly ShippedRow[]>): Promise<void> => {
  const ownership = await takeOwnership(dir);
  try {
    for (const name of readdirSync(dir))
      if (!name.startsWith('owner.mdb')) rmSync(join(dir, name), { recursive: true });
    const root = openRoot(dir);
    try {
      await fill(root, rows, { dir, isCopy: false });
      await root.flushed;
    } finally {
      await closePrivate(root);
    }
  } finally {
    await ownership.release();
  }
};
