import type { StoredResponse } from '../../schema/stored-response.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';
import type { Removals } from '../engine/removals.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * The legs of responses of the OpenAI routes (openai-responses.md 12), written in the commits of their runs. They are removed with
 * their thread, or when they are older than the retention: each new leg removes up to two of those, so the number of
 * rows never exceeds the number of legs of that time.
 */

export type ResponseTable = {
  get(scope: string, leg: ResponseKey): StoredResponse | undefined;
  /** Returns the legs of a run in their order. */
  ofRun(scope: string, run: Omit<ResponseKey, 'leg'>): StoredResponse[];
  /** Returns whether the thread has a leg other than this one. */
  hasOther(scope: string, leg: ResponseKey): boolean;
  /** Adds a leg. */
  add(batch: Batch, scope: string, row: StoredResponse): void;
  /** Replaces a leg that was added; its key and time never change. */
  put(batch: Batch, scope: string, row: StoredResponse): void;
  /** Removes legs that were created before this time, in milliseconds. */
  sweep(batch: Batch, before: number): void;
  remove(batch: Batch, scope: string, leg: ResponseKey & Pick<StoredResponse, 'created_at'>): void;
};

export type ResponseKey = Pick<StoredResponse, 'thread_id' | 'run_id' | 'leg'>;

const REMOVED_AT_ONCE = 2;

type ByTime = ResponseKey & { scope: string };

export const createResponseTable = (
  env: Environment,
  removals: Pick<Removals, 'isMarked'>,
): ResponseTable => {
  const rows = env.table<StoredResponse>('responses');
  const times = env.table<ByTime>('response_times');
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
      const { thread_id, run_id, leg } = row;
      times.put(batch, timeOf(scope, row), { scope, thread_id, run_id, leg });
    },
    put: (batch, scope, row) => rows.put(batch, keyOf(scope, row), row),
    sweep(batch, before) {
      for (const { key, value } of times.entries({ prefix: [], limit: REMOVED_AT_ONCE })) {
        if (Number(key[0]) >= before) return;
        times.remove(batch, key);
        rows.remove(batch, keyOf(value.scope, value));
      }
    },
    remove(batch, scope, leg) {
      rows.remove(batch, keyOf(scope, leg));
      times.remove(batch, timeOf(scope, leg));
    },
  };
};

/** The columns of a shipped row. */
export const responseColumns = ({ thread_id, created_at }: StoredResponse, [scope]: Key): Columns => ({
  scope: String(scope),
  b: thread_id,
  at: created_at,
});

const keyOf = (scope: string, { thread_id, run_id, leg }: ResponseKey) => [scope, thread_id, run_id, leg];

const timeOf = (scope: string, { created_at, ...key }: ResponseKey & Pick<StoredResponse, 'created_at'>) => [
  created_at,
  ...keyOf(scope, key),
];
