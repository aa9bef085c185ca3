import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId } from './keys.ts';

/** Runs whose wait has an end, by that time, in all scopes: what somebody has to look at now is read and no more. */

export type Deadline = { at: number; scope: string; thread_id: string; run_id: string };

export type DeadlineTable = {
  put(batch: Batch, deadline: Deadline): void;
  remove(batch: Batch, deadline: Deadline): void;
  /** Those that are over, the oldest first; behind this one, if there is one. */
  due(now: number, limit: number, after?: Deadline): Deadline[];
};

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
