import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';

/** Dispatches that have ended, in all scopes, by the time of their end: what collection reads (runtime.md 10.4, 8). */

type Item = { scope: string; id: string; order: number };

export type EndedWork = {
  /** The times at which it ended, after and before a change; undefined while it is open, or not there. */
  move(batch: Batch, item: Item, after: number | undefined, before: number | undefined): void;
  /** What ended earlier than a time, the oldest first. */
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
      // Times are whole milliseconds, and `to` is included.
      for (const [scope, id] of rows.values({ prefix: [], to: [before - 1], limit })) yield { scope, id };
    },
  };
};
