import { timeOfId } from '../../schema/clock.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';
import type { Removals } from '../engine/removals.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * The legs of responses of the OpenAI routes (openai-responses.md 12), written in the commits of their runs. They are removed with
 * their thread, or by a sweep when they are older than the retention. A leg has no second row with its time: ids of runs
 * contain theirs, so that the sweep reads the keys of all legs and only the rows of old runs.
 */

export type ResponseTable = {
  get(scope: string, leg: ResponseKey): StoredResponse | undefined;
  /** Returns the legs of a run in their order. */
  ofRun(scope: string, run: Omit<ResponseKey, 'leg'>): StoredResponse[];
  /** Returns whether the thread has a leg other than this one. */
  hasOther(scope: string, leg: ResponseKey): boolean;
  /** Adds a leg. */
  add(batch: Batch, scope: string, row: StoredResponse): void;
  /** Replaces a leg that was added; its key never changes. */
  put(batch: Batch, scope: string, row: StoredResponse): void;
  /**
   * Removes legs that were created before this time, in milliseconds.
   *
   * @param budget maximum number of keys to check
   * @param from the `next` of the previous call; without it the sweep starts from the beginning
   */
  prune(batch: Batch, before: number, budget: number, from?: Key): { removed: number; next?: Key };
  remove(batch: Batch, scope: string, leg: ResponseKey): void;
};

export type ResponseKey = Pick<StoredResponse, 'thread_id' | 'run_id' | 'leg'>;

export const createResponseTable = (
  env: Environment,
  removals: Pick<Removals, 'isMarked'>,
): ResponseTable => {
  const rows = env.table<StoredResponse>('responses');
  const isReadable = (scope: string, { thread_id, run_id }: Omit<ResponseKey, 'leg'>): boolean =>
    isId(thread_id) && isId(run_id) && !removals.isMarked(scope, thread_id);
  return {
    get: (scope, key) => (isReadable(scope, key) ? rows.get(keyOf(scope, key)) : undefined),
    ofRun: (scope, run) =>
      isReadable(scope, run) ? Array.from(rows.values({ prefix: [scope, run.thread_id, run.run_id] })) : [],
    hasOther(scope, { thread_id, run_id, leg }) {
      for (const [, , run, other] of rows.keys({ prefix: [scope, thread_id], limit: 2 }))
        if (run !== run_id || other !== leg) return true;
      return false;
    },
    add(batch, scope, row) {
      checkId('scope', scope);
      checkId('thread id', row.thread_id);
      checkId('run id', row.run_id);
      rows.put(batch, keyOf(scope, row), row);
    },
    put: (batch, scope, row) => rows.put(batch, keyOf(scope, row), row),
    prune(batch, before, budget, from) {
      let removed = 0;
      let checked = 0;
      for (const key of rows.keys({ prefix: [], ...(from && { from }) })) {
        if (checked === budget) return { removed, next: key };
        checked += 1;
        if (isYoung(key, before) || (rows.get(key)?.created_at ?? before) >= before) continue;
        rows.remove(batch, key);
        removed += 1;
      }
      return { removed };
    },
    remove: (batch, scope, leg) => rows.remove(batch, keyOf(scope, leg)),
  };
};

/** The columns of a shipped row. */
export const responseColumns = ({ thread_id, created_at }: StoredResponse, [scope]: Key): Columns => ({
  scope: String(scope),
  b: thread_id,
  at: created_at,
});

const keyOf = (scope: string, { thread_id, run_id, leg }: ResponseKey) => [scope, thread_id, run_id, leg];

/** A leg is not older than its run. */
const isYoung = ([, , run_id]: Key, before: number): boolean => {
  const began = timeOfId(String(run_id));
  return began !== undefined && began >= before;
};
