import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import { isSameKey, type Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * The lists that a record is in. A list is a key prefix in an index table; a record has one place in it, the key
 * of its index row, and the list has a counter under the same prefix. Index rows and counters are written only
 * where the places before and after a change differ.
 */

export type Place = { list: Key; position: Key };

export type Placement = {
  move(batch: Batch, id: string, after: Place[], before: Place[]): void;
};

export const createPlacement = (index: Table<string>, counters?: Counters): Placement => ({
  move(batch, id, after, before) {
    for (const place of before) {
      if (!after.some((other) => isSamePlace(other, place))) index.remove(batch, rowOf(place));
      if (!after.some((other) => isSameList(other, place))) counters?.add(batch, place.list, -1);
    }
    for (const place of after) {
      if (!before.some((other) => isSamePlace(other, place))) index.add(batch, rowOf(place), id);
      if (!before.some((other) => isSameList(other, place))) counters?.add(batch, place.list, 1);
    }
  },
});

const isSameList = (a: Place, b: Place): boolean => isSameKey(a.list, b.list);

const isSamePlace = (a: Place, b: Place): boolean => isSameKey(a.position, b.position) && isSameList(a, b);

const rowOf = ({ list, position }: Place): Key => [...list, ...position];
