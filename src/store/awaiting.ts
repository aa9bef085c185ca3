import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId } from './keys.ts';

/** Runs that wait for background tasks, in all scopes: the next process wakes them (runtime.md 17, step 6). */

export type AwaitingRun = { scope: string; thread_id: string; run_id: string };

export type AwaitingTable = {
  put(batch: Batch, run: AwaitingRun): void;
  remove(batch: Batch, run: AwaitingRun): void;
  /** So many behind this one. */
  all(after: AwaitingRun | undefined, limit: number): AwaitingRun[];
};

export const createAwaitingTable = (env: Environment): AwaitingTable => {
  const rows = env.table<AwaitingRun>('awaiting_tasks');
  return {
    put(batch, run) {
      checkId('scope', run.scope);
      checkId('run id', run.run_id);
      rows.put(batch, [run.scope, run.run_id], run);
    },
    remove: (batch, { scope, run_id }) => rows.remove(batch, [scope, run_id]),
    all: (after, limit) =>
      Array.from(rows.values({ prefix: [], limit, ...(after && { after: [after.scope, after.run_id] }) })),
  };
};
