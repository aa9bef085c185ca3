import type { PendingMessage } from '../schema/pending.ts';
import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, isId } from './keys.ts';

/** Messages of a thread that wait to join its history, in their order (runtime.md 9). */

export type PendingTable = {
  of(scope: string, thread_id: string): PendingMessage[];
  put(batch: Batch, scope: string, entry: PendingMessage): void;
  remove(batch: Batch, scope: string, entry: PendingMessage): void;
  removeAll(batch: Batch, scope: string, thread_id: string): void;
  /** Of all threads; what recovery looks at. */
  all(): Iterable<{ scope: string; entry: PendingMessage }>;
};

export const createPendingTable = (env: Environment): PendingTable => {
  const rows = env.table<PendingMessage>('pending');
  return {
    of: (scope, thread_id) =>
      isId(thread_id) ? Array.from(rows.values({ prefix: [scope, thread_id] })) : [],
    put(batch, scope, entry) {
      checkId('scope', scope);
      checkId('thread id', entry.thread_id);
      rows.put(batch, [scope, entry.thread_id, entry.position], entry);
    },
    remove: (batch, scope, entry) => rows.remove(batch, [scope, entry.thread_id, entry.position]),
    removeAll: (batch, scope, thread_id) => rows.clear(batch, [scope, thread_id]),
    *all() {
      for (const { key, value } of rows.entries({ prefix: [] }))
        yield { scope: String(key[0]), entry: value };
    },
  };
};
