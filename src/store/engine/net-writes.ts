import type { Batch, Rows, Write } from './batch.ts';
import type { Key } from './keys.ts';
import { keysUnder } from './table.ts';

/**
 * Reduces the batches of one transaction to at most one write per row, the last one, and none for an entry that was
 * added and removed again. Rows are encoded when they are put, so a value that cannot be encoded rejects only its own
 * batch; a row that was put twice is written once.
 */

/** Without a value, the row is removed. */
export type NetWrite = { rows: Rows; key: Key; value: Buffer | undefined };

type Net = NetWrite & { isNew: boolean };

export const netWrites = (batches: readonly Batch[]): Iterable<NetWrite>[] => {
  const tables = new Map<Rows, Map<string, Net>>();
  for (const { writes } of batches) {
    for (const write of writes) {
      const table = tables.get(write.rows) ?? new Map<string, Net>();
      tables.set(write.rows, table);
      if (write.kind === 'clear') clear(table, write);
      else add(table, write);
    }
  }
  return Array.from(tables.values(), (table) => table.values());
};

/**
 * The parts of a key have no control characters, and all keys of a table have text and numbers in the same positions.
 */
const nameOf = (key: Key): string => key.join('\0');

const add = (table: Map<string, Net>, write: Exclude<Write, { kind: 'clear' }>): void => {
  const { kind, rows, key } = write;
  const name = nameOf(key);
  const earlier = table.get(name);
  if (kind === 'remove' && earlier?.isNew) {
    table.delete(name);
    return;
  }
  const value = kind === 'remove' ? undefined : write.value;
  if (earlier) earlier.value = value;
  else table.set(name, { rows, key, value, isNew: kind === 'add' });
};

/** Clears keys on disk, and those put by earlier writes of the transaction. */
const clear = (table: Map<string, Net>, { rows, key: prefix }: Write): void => {
  for (const [name, earlier] of table) {
    if (!prefix.every((part, index) => part === earlier.key[index])) continue;
    if (earlier.isNew) table.delete(name);
    else earlier.value = undefined;
  }
  for (const key of keysUnder(rows, prefix)) {
    const name = nameOf(key);
    const earlier = table.get(name);
    if (earlier) earlier.value = undefined;
    else table.set(name, { rows, key, value: undefined, isNew: false });
  }
};
