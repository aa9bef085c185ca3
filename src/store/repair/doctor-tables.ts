import type { RootDatabase, RootDatabaseOptions } from 'lmdb';
import type { Rows } from '../engine/batch.ts';
import { type Codec, createCodec } from '../engine/codec.ts';
import { reasonOf } from '../engine/folder.ts';
import type { Key } from '../engine/keys.ts';
import { MARKS, SLICED_TABLES } from '../engine/removals.ts';
import type { Entry } from './derived.ts';

/**
 * Reads every table of a folder for `troupe doctor`.
 *
 * Guarantees: reading a table decodes one row at a time, counts the rows and notes those that do not decode; rows that
 * the next start removes are left out.
 * Cost: memory for one row, and for the keys of the threads that are being removed.
 */

/** @param repaired the repair has fixed the problem */
export type Note = (problem: string, table: string, key: Key | number, repaired?: boolean) => void;

export type DoctorTable = {
  readonly name: string;
  readonly rows: Rows;
  /** Undefined for tables that are not written through a codec. */
  readonly codec: Codec | undefined;
  /** In key order. Must be read to its end once, because each reading notes and counts its findings. */
  read(): Iterable<Entry>;
  keys(): Iterable<Key>;
  /** Number of rows read; undefined before `read`. */
  count(): number | undefined;
};

export type DoctorTables = ReadonlyMap<string, DoctorTable>;

const PLAIN: readonly string[] = ['counters', 'meta'];

export const openTables = (root: RootDatabase, note: Note): DoctorTables => {
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const names = Array.from(root.getKeys(), String).filter((name) => name !== 'structures');
  const opened = names.map((name) => {
    const codec = PLAIN.includes(name) ? undefined : createCodec(name, structures.get([name]));
    // lmdb's type names `encoder` for the root only; a table accepts it as well.
    const options: RootDatabaseOptions = codec ? { encoder: codec.packr } : {};
    const rows: Rows = root.openDB(name, options);
    return { name, rows, codec };
  });
  const marks = opened.find(({ name }) => name === MARKS);
  const removed = new Set<string>();
  for (const key of marks?.rows.getKeys() ?? []) removed.add(JSON.stringify(key));
  return new Map(opened.map((table) => [table.name, createReader(table, removed, note)]));
};

const createReader = (
  table: Pick<DoctorTable, 'name' | 'rows' | 'codec'>,
  removed: ReadonlySet<string>,
  note: Note,
): DoctorTable => {
  const { name, rows } = table;
  const isSliced = removed.size > 0 && (SLICED_TABLES as readonly string[]).includes(name);
  function* keys(): Iterable<Key> {
    for (const found of rows.getKeys()) {
      const key = (Array.isArray(found) ? found : [found]) as Key;
      if (!isSliced || !removed.has(JSON.stringify(key.slice(0, 2)))) yield key;
    }
  }
  let count: number | undefined;
  return {
    ...table,
    keys,
    *read() {
      count = 0;
      for (const key of keys()) {
        let value: unknown;
        try {
          value = rows.get(key);
        } catch (error) {
          note(`a row that does not decode (${reasonOf(error).slice(0, 100)})`, name, key);
          continue;
        }
        count += 1;
        yield { key, value };
      }
    },
    count: () => count,
  };
};
