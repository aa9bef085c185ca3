import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import type { Rows } from './batch.ts';
import { listsAnew } from './migrate.ts';

/**
 * The version of what is in the folder. A folder of an older version is brought up to date at open, in one
 * transaction; one that a newer program wrote is refused, because this one does not know what it would break.
 */

export type Format = {
  version: number;
  /** `migrations[n]` turns version n into n + 1; it runs inside a transaction. */
  migrations: Record<number, (root: RootDatabase) => void>;
};

export const FORMAT: Format = {
  version: 4,
  migrations: {
    1: listsAnew,
    2: listsAnew,
    // Rows with secrets are sealed after the folder is opened, see `control-plane.ts`. Older programs cannot read them.
    3: () => {},
  },
};

/** Called inside of a transaction. @throws Unavailable when the folder is newer than this program, or a migration is missing */
export const bringUpToDate = (root: RootDatabase, meta: Rows, dir: string, format: Format): void => {
  const stored = meta.get(['format']);
  if (typeof stored !== 'number') {
    meta.putSync(['format'], format.version);
    return;
  }
  if (stored > format.version) {
    throw new Unavailable(
      `storage folder '${dir}' has format ${stored}, this program knows up to ${format.version}: start the newer program, or choose another folder`,
    );
  }
  if (stored === format.version) return;
  for (let version = stored; version < format.version; version += 1) {
    const migrate = format.migrations[version];
    if (!migrate) {
      throw new Unavailable(
        `storage folder '${dir}' has format ${stored}: there is no way from ${version} to ${version + 1}`,
      );
    }
    migrate(root);
  }
  meta.putSync(['format'], format.version);
};
