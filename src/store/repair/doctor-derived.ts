import { isDeepStrictEqual } from 'node:util';
import { compareKeys, type Database, type RootDatabase } from 'lmdb';
import { createScratchFolder } from '../../processes/scratch-folder.ts';
import type { Codec } from '../engine/codec.ts';
import { closePrivate, encoded, openRoot } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { DERIVED, type DerivedName, deriveInto, type Entry, type Records } from './derived.ts';
import type { DoctorTable, DoctorTables, Note } from './doctor-tables.ts';

/**
 * Compares derived rows with those that are stored, and repairs them.
 *
 * The expected rows are written to a scratch environment in the temporary folder of the system, because a folder can
 * have more of them than fit into memory. Both sides are then read in key order, row by row.
 *
 * Cost: the size of the derived tables on disk, and memory for a chunk of rows. An interrupted repair has repaired some
 * chunks; the next repair does the rest.
 */

/** Rows per transaction. */
const CHUNK = 5000;

type Compared = {
  tables: DoctorTables;
  records: Records;
  /** Tables of an older format, which an upgrade rebuilds: they are not compared. */
  outdated: readonly DerivedName[];
  repair: boolean;
};

export const compareDerived = async (
  root: RootDatabase,
  { tables, records, outdated, repair }: Compared,
  note: Note,
): Promise<void> => {
  const { dir, remove } = await createScratchFolder('doctor');
  let scratch: RootDatabase | undefined;
  try {
    scratch = openRoot(dir);
    const expected = writeExpected(scratch, records);
    const repairs = createRepairs(root, tables);
    for (const name of DERIVED) {
      const table = tables.get(name);
      if (!table || outdated.includes(name)) continue;
      for (const [problem, fix] of differences(expected.read(name), table)) {
        note(problem, name, fix.key, repair);
        if (repair) await repairs.add(table, fix);
      }
    }
    await repairs.flush();
  } finally {
    if (scratch) await closePrivate(scratch);
    await remove();
  }
};

type Expected = { read(table: DerivedName): Iterable<Entry> };

const writeExpected = (scratch: RootDatabase, records: Records): Expected => {
  const open = (name: string) => scratch.openDB<Buffer, Key>(name, { encoding: 'binary' });
  const rows = new Map<DerivedName, Database<Buffer, Key>>(DERIVED.map((name) => [name, open(name)]));
  const codecs = new Map<DerivedName, Codec>();
  let pending: { table: DerivedName; key: Key; value: Buffer }[] = [];
  const write = (): void => {
    scratch.transactionSync(() => {
      for (const { table, key, value } of pending) rows.get(table)?.putSync(key, value);
    });
    pending = [];
  };
  const add = (table: DerivedName, key: Key, value: Buffer, codec: Codec | undefined): void => {
    if (codec) codecs.set(table, codec);
    pending.push({ table, key, value });
    if (pending.length === CHUNK) write();
  };
  deriveInto(records, {
    row: (table, { key, value, codec }) => add(table, key, Buffer.from(value), codec),
    counter: (key, count) => add('counters', key, Buffer.from(JSON.stringify(count)), undefined),
  });
  write();
  return {
    *read(table) {
      for (const { key, value } of rows.get(table)?.getRange() ?? [])
        yield {
          key,
          value: table === 'counters' ? JSON.parse(String(value)) : codecs.get(table)?.packr.unpack(value),
        };
    },
  };
};

/** An undefined value removes the row. */
type Fix = { key: Key; value: unknown };

function* differences(expected: Iterable<Entry>, table: DoctorTable): Iterable<[problem: string, fix: Fix]> {
  const rightOnes = expected[Symbol.iterator]();
  let right = rightOnes.next();
  for (const { key, value } of table.read()) {
    while (!right.done && compareKeys(right.value.key, key) < 0) {
      yield ['a record without its row', right.value];
      right = rightOnes.next();
    }
    if (right.done || compareKeys(right.value.key, key) > 0) {
      yield ['a row without a record', { key, value: undefined }];
      continue;
    }
    if (!isDeepStrictEqual(plain(right.value.value), plain(value)))
      yield ['a row that differs from its record', right.value];
    right = rightOnes.next();
  }
  for (; !right.done; right = rightOnes.next()) yield ['a record without its row', right.value];
}

/** Drops prototypes, which the codec does not preserve. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const createRepairs = (root: RootDatabase, tables: DoctorTables) => {
  let fixes: (() => void)[] = [];
  const flush = async (): Promise<void> => {
    if (fixes.length === 0) return;
    const applied = fixes;
    fixes = [];
    const structures = root.openDB('structures', { encoding: 'json' });
    await root.batch(() => {
      for (const fix of applied) fix();
      for (const { codec } of tables.values()) {
        const changed = codec?.takeChanged();
        if (codec && changed) structures.put(codec.key, encoded(changed));
      }
    });
    await root.flushed;
  };
  return {
    async add({ rows, codec }: DoctorTable, { key, value }: Fix): Promise<void> {
      fixes.push(() => {
        if (value === undefined) rows.remove(key);
        else rows.put(key, codec ? encoded(codec.encode(value)) : value);
      });
      if (fixes.length === CHUNK) await flush();
    },
    flush,
  };
};
