import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import { isId, isSameKey, type Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * Maintains the lists that contain a record. A list is a key prefix in an index table; a record has one position in it,
 * the key of its index row, and the list has a counter under the same prefix. Index rows and counters are written only
 * where the positions before and after a change differ.
 */

export type Place = { list: Key; position: Key };

export type Placement = {
  move(batch: Batch, id: string, after: Place[], before: Place[]): void;
};

export const createPlacement = (index: Table<string>, counters?: Counters): Placement => ({
  move(batch, id, after, before) {
    for (const place of before) if (!hasPlace(after, place)) index.remove(batch, rowOf(place));
    for (const place of after) if (!hasPlace(before, place)) index.add(batch, rowOf(place), id);
    if (counters) recount(counters, batch, after, before);
  },
});

/** The partitions of rows with this id in a list across partitions. */
export const namesIn = (list: string, id: string): Key => [list, 'name', id];

export const findPartitions = (index: Table<string>, prefix: Key, limit: number): string[] =>
  prefix.every((part) => isId(String(part)))
    ? Array.from(index.keys({ prefix, limit }), (key) => String(key.at(-1)))
    : [];

const recount = (counters: Counters, batch: Batch, after: Place[], before: Place[]): void => {
  for (const place of before) if (!hasList(after, place)) counters.add(batch, place.list, -1);
  for (const place of after) if (!hasList(before, place)) counters.add(batch, place.list, 1);
};

const hasPlace = (places: readonly Place[], place: Place): boolean =>
  places.some((other) => isSamePlace(other, place));

const hasList = (places: readonly Place[], place: Place): boolean =>
  places.some((other) => isSameList(other, place));

const isSameList = (a: Place, b: Place): boolean => isSameKey(a.list, b.list);

const isSamePlace = (a: Place, b: Place): boolean => isSameKey(a.position, b.position) && isSameList(a, b);

const rowOf = ({ list, position }: Place): Key => [...list, ...position];
