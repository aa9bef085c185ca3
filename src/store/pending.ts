import type { PendingMessage } from '../schema/pending.ts';
import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, isId, type Key } from './keys.ts';

/** Messages of a thread that wait to join its history, in their order (runtime.md 9). */

export type PendingTable = {
  of(scope: string, thread_id: string): PendingMessage[];
  put(batch: Batch, scope: string, entry: PendingMessage): void;
  remove(batch: Batch, scope: string, entry: PendingMessage): void;
  removeAll(batch: Batch, scope: string, thread_id: string): void;
  /** Of all threads, so many behind this one; what recovery looks at. */
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
