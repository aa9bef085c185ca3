import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import { isId, isSameKey, type Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * Maintains the lists that contain a record. A list is a key prefix in an index table; a record has one position in it,
 * the key of its index row, and the list has a counter under the same prefix. Index rows and counters are written only
 * where the positions before and after a change differ.
 */

export type Place<V extends Value = never> = {
  list: Key;
  position: Key;
  /** Default: the id of the record. */
  value?: V;
};

type Value = Key | true;

export type Placement<V extends Value = never> = {
  move(batch: Batch, id: string, after: Place<V>[], before: Place<V>[]): void;
};

export const createPlacement = <V extends Value = never>(
  index: Table<string | V>,
  counters?: Counters,
): Placement<V> => ({
  move(batch, id, after, before) {
    for (const place of before) if (!hasPlace(after, place)) index.remove(batch, rowOf(place));
    for (const place of after)
      if (!hasPlace(before, place)) index.add(batch, rowOf(place), place.value ?? id);
    if (counters) recount(counters, batch, after, before);
  },
});

/** The partitions of rows with this id in a list across partitions. */
export const namesIn = (list: string, id: string): Key => [list, 'name', id];

export const findPartitions = (index: Pick<Table<unknown>, 'keys'>, prefix: Key, limit: number): string[] =>
  prefix.every((part) => isId(String(part)))
    ? Array.from(index.keys({ prefix, limit }), (key) => String(key.at(-1)))
    : [];

const recount = (counters: Counters, batch: Batch, after: AnyPlace[], before: AnyPlace[]): void => {
  for (const place of before) if (!hasList(after, place)) counters.add(batch, place.list, -1);
  for (const place of after) if (!hasList(before, place)) counters.add(batch, place.list, 1);
};

type AnyPlace = Place<Value>;

const hasPlace = (places: readonly AnyPlace[], place: AnyPlace): boolean => {
  for (const other of places) if (isSamePlace(other, place)) return true;
  return false;
};

const hasList = (places: readonly AnyPlace[], { list }: AnyPlace): boolean => {
  for (const other of places) if (isSameKey(other.list, list)) return true;
  return false;
};

const isSamePlace = (a: AnyPlace, b: AnyPlace): boolean =>
  isSameKey(a.position, b.position) && isSameKey(a.list, b.list) && isSameValue(a.value, b.value);

const isSameValue = (a: Value | undefined, b: Value | undefined): boolean =>
  a === b || (Array.isArray(a) && Array.isArray(b) && isSameKey(a, b));

const rowOf = ({ list, position }: AnyPlace): Key => [...list, ...position];
