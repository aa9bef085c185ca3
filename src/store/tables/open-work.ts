import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { isSameKey, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Open dispatches, by scope and thread in claim order: the queue of a thread, and the rows that recovery reads instead
 * of all dispatches (runtime.md 10.4, 17).
 */

type Item = { scope: string; id: string; place: Key };

export type OpenWork = {
  /**
   * Moves an entry between the keys before and after a change: scope, thread and claim order; undefined unless it is
   * open.
   */
  move(batch: Batch, id: string, after: Key | undefined, before: Key | undefined): void;
  /** Returns the ids of a thread. */
  of(scope: string, thread_id: string): string[];
  /** Returns up to `limit` entries after this key, or from the first. */
  list(after: Key | undefined, limit: number): Item[];
};

/** The columns of a shipped row: its dispatch is not available before its creation, which is part of the claim order. */
export const openWorkColumns = (_id: string, [scope, , , created_at]: Key): Columns => ({
  scope: String(scope),
  at: Number(created_at),
});

export const createOpenWork = (env: Environment): OpenWork => {
  const rows = env.table<string>('open_work');
  return {
    move(batch, id, after, before) {
      if (after && before && isSameKey(after, before)) return;
      if (before) rows.remove(batch, before);
      if (after) rows.add(batch, after, id);
    },
    of: (scope, thread_id) => Array.from(rows.values({ prefix: [scope, thread_id] })),
    list: (after, limit) =>
      Array.from(rows.entries({ prefix: [], limit, ...(after && { after }) }), ({ key, value }) => ({
        scope: String(key[0]),
        id: value,
        place: key,
      })),
  };
};
