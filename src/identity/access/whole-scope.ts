import { ownedIn } from '../../schema/partition.ts';
import type { Place } from '../../schema/place.ts';
import type { Store } from '../../store/index.ts';

/**
 * The threads and runs of a scope for the admin surface, with and without an owner (identity.md 1.2, `observe`).
 *
 * Cost: one read, and a second one of a list for an id that has an owner or is unknown.
 */
export type WholeScope = {
  lists(scope: string): readonly string[];
  /** Returns the place of the thread; for an unknown id, one without a row. */
  thread(scope: string, id: string): Place;
  /** Returns the place of the run; for an unknown id, one without a row. */
  run(scope: string, id: string): Place;
};

type Table = { get(scope: string, id: string): unknown } & Pick<Store['runs'], 'partitionsWith'>;

export const createWholeScope = ({ threads, runs }: { threads: Table; runs: Table }): WholeScope => ({
  lists: (scope) => [scope, ownedIn(scope)],
  thread: (scope, id) => find(threads, scope, id),
  run: (scope, id) => find(runs, scope, id),
});

const find = (table: Table, scope: string, id: string): Place => {
  if (table.get(scope, id) !== undefined) return { scope, id };
  const [partition = scope] = table.partitionsWith(ownedIn(scope), id, 1);
  return { scope: partition, id };
};
