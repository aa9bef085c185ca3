import type { CopyOf, TableKind } from './copy-of.ts';
import { emptyCopy } from './engine/copy-folder.ts';
import { closePrivate, openRoot } from './engine/environment.ts';
import { prepareFolder } from './engine/folder.ts';
import { takeOwnership } from './engine/owner.ts';
import type { RowContent } from './engine/sink.ts';
import { SHIPPED } from './kinds.ts';
import { fill } from './load.ts';
import { FORMAT } from './repair/format.ts';
import { openStoreOfFormat, type Store, type StoreOptions } from './store.ts';

/**
 * Opens a store that is a copy of what a database has: filled from its rows, and with a sink that every commit passes
 * first.
 *
 * Guarantees: the folder is emptied before. When the store is returned, it has the rows of the database and what the
 * tables derive from them, and its order numbers continue above all that were loaded. Secrets are sealed with the
 * setting only: a generated key would be that of one copy.
 * Relies on the pages being one state of the database, and on no other member that writes.
 * Cost: every row is written, read and derived once; other work of the process continues between transactions.
 */
export type CopyOptions = Omit<StoreOptions, 'holdsSecrets'> &
  Pick<CopyOf, 'sink' | 'copyBroken'> & {
    /** All rows of the database, in any order. */
    rows: AsyncIterable<readonly RowContent[]>;
  };

/** @throws Unavailable when the folder cannot be used, is in use, or is not that of a copy */
export const openCopy = async ({ sink, copyBroken, rows, ...options }: CopyOptions): Promise<Store> => {
  const dir = prepareFolder(options.dir);
  const ownership = await takeOwnership(dir);
  try {
    emptyCopy(dir);
    const root = openRoot(dir, options.mapSize, { isCopy: true });
    try {
      await fill(root, rows, { dir, isCopy: true });
    } finally {
      await closePrivate(root);
    }
  } finally {
    await ownership.release();
  }
  const holdsSecrets = options.secretsKey !== undefined;
  const store = await openStoreOfFormat({ ...options, holdsSecrets }, FORMAT, {
    sink,
    copyBroken,
    kinds: KINDS,
  });
  await shipKeys(store).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return store;
};

/** The first copy of a database has generated them. */
const shipKeys = async (store: Store): Promise<void> => {
  if (store.storeKeys.isShipped) return;
  const batch = store.batch('commons');
  store.storeKeys.put(batch);
  await store.commit(batch, 'input');
};

const KINDS: ReadonlyMap<string, TableKind> = new Map(
  SHIPPED.map(({ table, number, home, columns }) => [
    table,
    {
      number,
      home,
      ship: (value, key) => ({ text: JSON.stringify(value), columns: columns(value, key) }),
    },
  ]),
);
