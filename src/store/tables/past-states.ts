import type { JsonObject } from '../../schema/json.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import type { Removals } from '../engine/removals.ts';

/**
 * The state of a thread as each of its runs left it, for forks from an earlier point (runtime.md 3.5). Only runs that
 * changed the state have a row.
 */

export type PastState = { thread: JsonObject; threadHidden: JsonObject };

export type PastStateTable = {
  /** @param seq number of the last message of the history when the run ended */
  put(batch: Batch, scope: string, thread_id: string, seq: number, state: PastState): void;
  /** Returns the state after this message. */
  at(scope: string, thread_id: string, seq: number): PastState | undefined;
};

export const createPastStateTable = (
  env: Environment,
  removals: Pick<Removals, 'isMarked'>,
): PastStateTable => {
  const rows = env.table<PastState>('past_states');
  return {
    put(batch, scope, thread_id, seq, state) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      rows.put(batch, [scope, thread_id, seq], state);
    },
    at(scope, thread_id, seq) {
      if (!isId(thread_id) || removals.isMarked(scope, thread_id)) return undefined;
      for (const row of rows.values({ prefix: [scope, thread_id], to: [seq], reverse: true, limit: 1 }))
        return row;
      return undefined;
    },
  };
};
