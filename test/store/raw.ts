import { createCipheriv, randomBytes, scryptSync } from 'node:crypto';
import type { RootDatabaseOptions } from 'lmdb';
import { createCodec } from '../../src/store/engine/codec.ts';
import { closePrivate, encoded, openRoot } from '../../src/store/engine/environment.ts';
import type { Key } from '../../src/store/engine/keys.ts';

/** Raw rows of a closed store, for data that current versions do not write. */

export type RawRow = { head: object; body: string };

export type Raw = {
  row(table: string, key: Key): RawRow;
  put(table: string, key: Key, row: RawRow): void;
  meta: { put(name: string, value: unknown): void; remove(name: string): void };
};

export const changeRaw = async (dir: string, change: (raw: Raw) => void): Promise<void> => {
  const root = openRoot(dir);
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const meta = root.openDB<unknown, Key>('meta', {});
  const opened = (name: string) => {
    const codec = createCodec(name, structures.get([name]));
    // lmdb's type names `encoder` for the root only, but a table accepts it as well.
    const options: RootDatabaseOptions = { encoder: codec.packr };
    return { rows: root.openDB<unknown, Key>(name, options), codec };
  };
  root.transactionSync(() =>
    change({
      // Sealed tables contain only rows of this shape.
      row: (table, key) => opened(table).rows.get(key) as RawRow,
      put(table, key, row) {
        const { rows, codec } = opened(table);
        rows.putSync(key, encoded(codec.encode(row)));
      },
      meta: { put: (name, value) => meta.putSync([name], value), remove: (name) => meta.removeSync([name]) },
    }),
  );
  await closePrivate(root);
};

/** Seals like the first scheme: not bound to the row. */
export const sealedUnbound = (key: string, text: string): string => {
  const secret = scryptSync(key, 'troupe secrets 1', 32, { N: 2 ** 14, r: 8, p: 1 });
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `sealed:1:${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
};
