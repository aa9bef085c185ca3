import type { RootDatabaseOptions } from 'lmdb';
import { createCodec } from '../../src/store/engine/codec.ts';
import { closePrivate, openRoot } from '../../src/store/engine/environment.ts';
import type { Key } from '../../src/store/engine/keys.ts';

/** All rows of a closed store as text, by table. */
export type Dump = Map<string, string[]>;

/** @param shown returns the part of a value that is compared */
export const dump = async (
  dir: string,
  shown: (table: string, value: unknown) => unknown = (_table, value) => value,
): Promise<Dump> => {
  const root = openRoot(dir);
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const rows: Dump = new Map();
  for (const name of Array.from(root.getKeys(), String)) {
    const isPlain = ['counters', 'meta', 'structures'].includes(name);
    const codec = createCodec(name, isPlain ? undefined : structures.get([name]));
    // lmdb's type names `encoder` for the root only, but a table accepts it as well.
    const options: RootDatabaseOptions = isPlain ? {} : { encoder: codec.packr };
    const table = name === 'structures' ? structures : root.openDB<unknown, Key>(name, options);
    rows.set(
      name,
      Array.from(table.getRange(), ({ key, value }) => JSON.stringify(sorted([key, shown(name, value)]))),
    );
  }
  await closePrivate(root);
  return rows;
};

/** The order of fields has no meaning. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, part]): [string, unknown] => [name, sorted(part)]);
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
