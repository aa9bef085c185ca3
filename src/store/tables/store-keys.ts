import type { Batch, Rows } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { linkKeyIn } from './files.ts';

/**
 * The key that links to files are signed with, as a row of a database: every member accepts the links of the others. The
 * folder itself, also that of a copy, has the key in its meta table.
 */
export type StoreKeys = {
  /** Whether the database has the row. */
  readonly isShipped: boolean;
  put(batch: Batch): void;
};

export const STORE_KEYS = 'store_keys';

export const LINKS = ['links'];

export const createStoreKeys = (env: Environment, meta: Rows): StoreKeys => {
  const rows = env.table<string>(STORE_KEYS);
  return {
    get isShipped() {
      return rows.has(LINKS);
    },
    put(batch) {
      const key = linkKeyIn(meta);
      if (key !== undefined) rows.put(batch, LINKS, key);
    },
  };
};
