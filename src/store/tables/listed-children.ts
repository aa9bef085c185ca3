import { baseOf, isListOfPartitions, isReservedScope, ownedIn } from '../../schema/partition.ts';
import type { Place } from '../../schema/place.ts';
import type { Counters } from '../engine/counters.ts';
import type { Key } from '../engine/keys.ts';
import { counted, type List, type ListedIn } from '../engine/page.ts';
import type { Table } from '../engine/table.ts';

/**
 * The children of one thread, in the lists of a principal.
 *
 * Lists across partitions name a parent by its id only, so they also contain the children of other threads with this id:
 * those of another owner, whose thread the principal may not see.
 *
 * Guarantees: rows and total are those of the children of this thread. A list without any is not read, so the cost does
 * not depend on other threads with the id.
 * Cost: three counters and a count inside LMDB. Rows of other threads are skipped one by one; that happens only if a
 * shared thread has the same id, which a client chose.
 */
export const listChildren = (
  { index, counters }: { index: Table<string>; counters: Counters },
  lists: readonly string[],
  { parent, listIn, shared }: Children,
): List<string> => {
  const wholeOf = (list: string): number => counters.get(listIn(list, true));
  const own = isReservedScope(parent.scope)
    ? { inPartition: wholeOf(parent.scope), shared: index.count({ prefix: shared }) }
    : undefined;
  const found = lists.filter((list) => {
    if (!isListOfPartitions(list)) return list === parent.scope;
    return own ? childrenIn(list, parent, own) > 0 : list !== ownedIn(parent.scope);
  });
  const keys = found.map((list) => listIn(list, false));
  const isMixed = found.some(
    (list) => isListOfPartitions(list) && (!own || wholeOf(list) !== childrenIn(list, parent, own)),
  );
  return isMixed ? inPartition(index, keys, parent.scope) : counted(index, counters, keys);
};

export type Children = {
  parent: Place;
  /** Returns the list of the children of all threads with this id; `isWhole`: regardless of their resource. */
  listIn(list: string, isWhole: boolean): Key;
  /** The names of the shared children of a thread with an owner. */
  shared: Key;
};

/** The number of children in the list of the partition, which lacks shared ones, and the number of shared ones. */
type Own = { inPartition: number; shared: number };

/** The list of everything with an owner also contains what is shared. */
const childrenIn = (list: string, { scope }: Place, { inPartition, shared }: Own): number =>
  list === ownedIn(baseOf(scope)) ? inPartition + shared : shared;

const inPartition = (index: Table<string>, prefixes: readonly Key[], partition: string): List<string> => {
  const isOwn = (key: Key): boolean => !isListOfPartitions(String(key[0])) || key.at(-1) === partition;
  const own: ListedIn<string> = {
    *entries({ limit, offset, ...span }) {
      yield* pageOf(index.entries(span), ({ key }) => isOwn(key), { limit, offset });
    },
    *keys({ limit, offset, ...span }) {
      yield* pageOf(index.keys(span), isOwn, { limit, offset });
    },
    firstKey(span) {
      for (const key of own.keys({ ...span, limit: 1 })) return key;
      return undefined;
    },
    count(span) {
      let count = 0;
      for (const key of index.keys(span)) if (isOwn(key)) count += 1;
      return count;
    },
  };
  const ranges = prefixes.map((prefix) => ({ prefix }));
  return { index: own, ranges, total: ranges.reduce((sum, range) => sum + own.count(range), 0) };
};

function* pageOf<Row>(
  rows: Iterable<Row>,
  isOwn: (row: Row) => boolean,
  {
    limit = Number.POSITIVE_INFINITY,
    offset = 0,
  }: { limit?: number | undefined; offset?: number | undefined },
): Iterable<Row> {
  let found = 0;
  for (const row of rows) {
    if (!isOwn(row)) continue;
    found += 1;
    if (found > offset) yield row;
    if (found >= offset + limit) return;
  }
}
