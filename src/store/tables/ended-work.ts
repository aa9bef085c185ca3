import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';

/** Ended dispatches of all scopes by the time of their end, for collection (runtime.md 10.4, 8). */

type Item = { scope: string; id: string; order: number };

export type EndedWork = {
  /**
   * Moves an entry between the end times after and before a change; undefined while the dispatch is open or missing.
   */
  move(batch: Batch, item: Item, after: number | undefined, before: number | undefined): void;
  /** Returns dispatches that ended before a time, oldest first. */
  list(before: number, limit: number): Iterable<Pick<Item, 'scope' | 'id'>>;
};

export const createEndedWork = (env: Environment): EndedWork => {
  const rows = env.table<[scope: string, id: string]>('ended_work');
  const keyOf = (at: number, { order }: Item): Key => [at, order];
  return {
    move(batch, item, after, before) {
      if (after === before) return;
      if (before !== undefined) rows.remove(batch, keyOf(before, item));
      if (after !== undefined) rows.add(batch, keyOf(after, item), [item.scope, item.id]);
    },
    *list(before, limit) {
      // Times are whole milliseconds, and `to` is inclusive.
      for (const [scope, id] of rows.values({ prefix: [], to: [before - 1], limit })) yield { scope, id };
    },
  };
};
