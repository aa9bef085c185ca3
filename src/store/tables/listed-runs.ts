import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId } from '../engine/keys.ts';

/** Runs of one kind, in all scopes, that the next process has to check (runtime.md 17). */

export type ListedRun = { scope: string; thread_id: string; run_id: string };

export type ListedRuns = {
  put(batch: Batch, run: ListedRun): void;
  remove(batch: Batch, run: ListedRun): void;
  /** Returns up to `limit` runs that follow `after`. */
  all(after: ListedRun | undefined, limit: number): ListedRun[];
};

export const createListedRuns = (env: Environment, name: 'awaiting_tasks' | 'driven_runs'): ListedRuns => {
  const rows = env.table<ListedRun>(name);
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
