import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import type { Columns } from '../engine/sink.ts';

/** Threads that expire, by that time, in all scopes, so that only expired threads are read. */

export type ThreadExpiry = { at: number; scope: string; thread_id: string };

export type ThreadExpiryTable = {
  /** Moves the row of a thread; absent times have none. */
  move(
    batch: Batch,
    thread: { scope: string; thread_id: string },
    after: number | undefined,
    before: number | undefined,
  ): void;
  /** Returns the expired threads, oldest first; only those that follow `after`, if given. */
  due(now: number, limit: number, after?: ThreadExpiry): ThreadExpiry[];
};

/** The columns of a shipped row. */
export const threadExpiryColumns = ({ at, scope }: ThreadExpiry): Columns => ({ scope, at });

export const createThreadExpiryTable = (env: Environment): ThreadExpiryTable => {
  const rows = env.table<ThreadExpiry>('thread_expiries');
  const keyOf = ({ at, scope, thread_id }: ThreadExpiry) => [at, scope, thread_id];
  return {
    move(batch, thread, after, before) {
      if (after === before) return;
      if (before !== undefined) rows.remove(batch, keyOf({ ...thread, at: before }));
      if (after !== undefined) rows.put(batch, keyOf({ ...thread, at: after }), { ...thread, at: after });
    },
    due(now, limit, after) {
      const found: ThreadExpiry[] = [];
      for (const expiry of rows.values({ prefix: [], limit, ...(after && { after: keyOf(after) }) })) {
        if (expiry.at > now) break;
        found.push(expiry);
      }
      return found;
    },
  };
};
