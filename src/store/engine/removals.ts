import { type Batch, createBatch, type Rows } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';
import { keysUnder } from './table.ts';

/**
 * Removes the rows of deleted threads. The rows of a short thread are removed by the commit that deletes the thread.
 * The rows of a long one are removed in slices, because collecting the keys of a commit blocks the event loop.
 *
 * Guarantees: the deleting commit also stores a mark, and no reader sees rows of a marked thread. The last slice
 * removes the mark, so that an interrupted removal is completed by the next process. Only one slice is written at a
 * time, regardless of the number of deleted threads.
 * Relies on the caller: nothing may be written for a marked thread before `finish` resolves.
 * Cost: one lookup in a map for each read of the tables that are listed here.
 */
export type Removals = {
  /** Removes the rows of a thread, or marks the thread when it has more than `SLICE_ROWS` rows. */
  begin(batch: Batch, scope: string, thread_id: string): void;
  isMarked(scope: string, thread_id: string): boolean;
  /**
   * Resolves when all rows of the thread are removed.
   *
   * @throws Unavailable when the store cannot be written; the mark stays
   */
  finish(scope: string, thread_id: string): Promise<void>;
  /** Finishes the removal of all marked threads. */
  finishAll(): Promise<void>;
};

/** Tables whose rows are removed in slices; their keys begin with the scope and the id of the thread. */
export const SLICED_TABLES = [
  'messages',
  'message_by_run',
  'retractions',
  'stopped_answers',
  'past_states',
  'responses',
] as const;
export const MARKS = 'removed_threads';

/** Rows that one commit removes. */
export const SLICE_ROWS = 1000;

export const createRemovals = (env: Environment, commit: (batch: Batch) => Promise<void>): Removals => {
  const marks = env.table<true>(MARKS);
  const marked = new Map<string, Key>();
  const finishing = new Map<string, Promise<void>>();
  let last: Promise<unknown> = Promise.resolve();
  for (const key of marks.keys({ prefix: [] })) marked.set(nameOf(key), key);

  const sliced = (): Rows[] => SLICED_TABLES.flatMap((name) => env.tables.get(name) ?? []);

  const slice = (batch: Batch, key: Key): void => {
    let left = SLICE_ROWS;
    for (const rows of sliced()) {
      const found = keysUnder(rows, key, left);
      for (const each of found) batch.writes.push({ kind: 'remove', rows, key: each });
      left -= found.length;
      if (left === 0) return;
    }
    marks.remove(batch, key);
    batch.afterwards.push(() => marked.delete(nameOf(key)));
  };

  const removeSlices = async (key: Key): Promise<void> => {
    while (marked.has(nameOf(key))) {
      const batch = createBatch({ scope: String(key[0]), thread_id: String(key[1]) });
      slice(batch, key);
      await commit(batch);
    }
  };

  const finish = (key: Key): Promise<void> => {
    const name = nameOf(key);
    const earlier = finishing.get(name);
    if (earlier) return earlier;
    const finished = last.then(() => removeSlices(key)).finally(() => finishing.delete(name));
    finishing.set(name, finished);
    last = finished.catch(() => {});
    return finished;
  };

  return {
    begin(batch, scope, thread_id) {
      const key = [scope, thread_id];
      const tables = sliced();
      const count = tables.reduce((sum, rows) => sum + keysUnder(rows, key, SLICE_ROWS + 1).length, 0);
      if (count <= SLICE_ROWS) {
        for (const rows of tables) batch.writes.push({ kind: 'clear', rows, key });
        return;
      }
      marks.put(batch, key, true);
      batch.afterwards.push(() => marked.set(nameOf(key), key));
    },
    isMarked: (scope, thread_id) => marked.size > 0 && marked.has(nameOf([scope, thread_id])),
    async finish(scope, thread_id) {
      if (marked.has(nameOf([scope, thread_id]))) await finish([scope, thread_id]);
    },
    async finishAll() {
      await Promise.all(Array.from(marked.values(), finish));
    },
  };
};

/** Ids have no control characters. */
const nameOf = (key: Key): string => key.join('\0');
