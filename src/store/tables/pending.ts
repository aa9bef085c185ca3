import type { PendingMessage } from '../../schema/pending.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';

/** Pending messages of a thread for its history, in their order (runtime.md 9). */

export type PendingTable = {
  of(scope: string, thread_id: string): PendingMessage[];
  put(batch: Batch, scope: string, entry: PendingMessage): void;
  remove(batch: Batch, scope: string, entry: PendingMessage): void;
  removeAll(batch: Batch, scope: string, thread_id: string): void;
  /** Returns up to `limit` pending messages of all threads that follow `after`, for recovery. */
  all(after: ScopedPending | undefined, limit: number): ScopedPending[];
};

export type ScopedPending = { scope: string; entry: PendingMessage };

export const createPendingTable = (env: Environment): PendingTable => {
  const rows = env.table<PendingMessage>('pending');
  return {
    of: (scope, thread_id) =>
      isId(thread_id) ? Array.from(rows.values({ prefix: [scope, thread_id] })) : [],
    put(batch, scope, entry) {
      checkId('scope', scope);
      checkId('thread id', entry.thread_id);
      rows.put(batch, keyOf(scope, entry), entry);
    },
    remove: (batch, scope, entry) => rows.remove(batch, keyOf(scope, entry)),
    removeAll: (batch, scope, thread_id) => rows.clear(batch, [scope, thread_id]),
    all(after, limit) {
      const behind = after && { after: keyOf(after.scope, after.entry) };
      return Array.from(rows.entries({ prefix: [], limit, ...behind }), ({ key, value }) => ({
        scope: String(key[0]),
        entry: value,
      }));
    },
  };
};

const keyOf = (scope: string, { thread_id, position }: PendingMessage): Key => [scope, thread_id, position];
