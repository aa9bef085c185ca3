import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';

/** The state of threads that is not part of a run. */

type ThreadState = Record<string, unknown>;

export type StateTable = {
  get(scope: string, thread_id: string): ThreadState | undefined;
  put(batch: Batch, scope: string, thread_id: string, value: ThreadState): void;
  remove(batch: Batch, scope: string, thread_id: string): void;
};

export const createStateTable = (env: Environment): StateTable => {
  const rows = env.table<ThreadState>('state');
  return {
    get: (scope, thread_id) => (isId(thread_id) ? rows.get([scope, thread_id]) : undefined),
    put(batch, scope, thread_id, value) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      rows.put(batch, [scope, thread_id], value);
    },
    remove(batch, scope, thread_id) {
      if (isId(thread_id)) rows.remove(batch, [scope, thread_id]);
    },
  };
};
