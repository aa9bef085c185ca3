import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/** Runs whose wait has a deadline, by that time, in all scopes, so that only expired waits are read. */

export type Deadline = { at: number; scope: string; thread_id: string; run_id: string };

export type DeadlineTable = {
  put(batch: Batch, deadline: Deadline): void;
  remove(batch: Batch, deadline: Deadline): void;
  /** Returns the expired deadlines, oldest first; only those that follow `after`, if given. */
  due(now: number, limit: number, after?: Deadline): Deadline[];
};

/** The columns of a shipped row. */
export const deadlineColumns = ({ at, scope }: Deadline): Columns => ({ scope, at });

export const createDeadlineTable = (env: Environment): DeadlineTable => {
  const rows = env.table<Deadline>('deadlines');
  const keyOf = ({ at, scope, run_id }: Deadline) => [at, scope, run_id];
  return {
    put(batch, deadline) {
      checkId('scope', deadline.scope);
      checkId('run id', deadline.run_id);
      rows.put(batch, keyOf(deadline), deadline);
    },
    remove: (batch, deadline) => rows.remove(batch, keyOf(deadline)),
    due(now, limit, after) {
      const found: Deadline[] = [];
      const span = { prefix: [], limit, ...(after && { after: keyOf(after) }) };
      for (const deadline of rows.values(span)) {
        if (deadline.at > now) break;
        found.push(deadline);
      }
      return found;
    },
  };
};
