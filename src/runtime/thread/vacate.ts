import { Conflict } from '../../schema/outcome.ts';
import { findCell, keyOf, type ThreadActors } from './actors.ts';
import { closeThread, isEvictable } from './lifecycle.ts';
import { withdrawThread } from './retire.ts';
import type { Thread } from './state.ts';

/**
 * Moves threads while no actor serves them.
 *
 * Guarantees: between the withdrawal of the actors and the end of the move, nothing is written for the threads at either
 * place. Requests for the threads wait, and fail once they are moved. Runs that execute stop at their last commit.
 * Cost: a lookup in an empty map for each use of a thread.
 */

export type Move = {
  scope: string;
  ids: readonly string[];
  /** Called with each actor, directly before all of them are withdrawn. @throws the error that prevents the move */
  check(thread: Thread): void;
};

/** Reserves the new places of the threads until the move ends. @throws Conflict */
export type Reserve = (scope: string, ids: Iterable<string>) => void;

export const vacate = async <Result>(
  actors: ThreadActors,
  { scope, ids, check }: Move,
  work: (reserve: Reserve) => Promise<Result>,
): Promise<Result> => {
  const { moving, retired, failed } = actors;
  const left = ids.map((id) => keyOf(scope, id));
  const leaving = createHold();
  const arriving = createHold();
  const reserved: string[] = [];
  for (const key of left) await moving.get(key);
  if (left.some((key) => moving.has(key))) throw busy();
  for (const key of left) moving.set(key, leaving.promise);
  let isMoved = false;
  try {
    const threads = left.flatMap((key) => findCell(actors, key)?.thread ?? []);
    for (const thread of threads) check(thread);
    for (const thread of threads) withdrawThread(thread);
    await Promise.all(left.map((key) => retired.get(key)));
    const result = await work((to, names) => {
      for (const id of names) {
        const key = keyOf(to, id);
        dropIdle(actors, key);
        moving.set(key, arriving.promise);
        reserved.push(key);
      }
    });
    isMoved = true;
    return result;
  } finally {
    for (const key of [...left, ...reserved]) moving.delete(key);
    if (isMoved) for (const key of left) failed.drop(key);
    leaving.release(isMoved ? new Conflict('the thread was given to another owner: try again') : undefined);
    arriving.release(undefined);
  }
};

/** An actor that was created for an unknown id would not know the thread. @throws Conflict */
const dropIdle = (actors: ThreadActors, key: string): void => {
  const cell = findCell(actors, key);
  if (actors.moving.has(key) || actors.retired.has(key)) throw busy();
  if (!cell?.thread) return;
  if (cell.users > 0 || cell.thread.ledger.record || !isEvictable(cell.thread)) throw busy();
  closeThread(cell.thread);
  cell.thread = undefined;
  actors.busy.delete(key);
  actors.idle.delete(key);
};

const createHold = () => {
  let end: (error: Conflict | undefined) => void = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  // Usually no request waits.
  promise.catch(() => {});
  return { promise, release: (error: Conflict | undefined): void => end(error) };
};

const busy = (): Conflict => new Conflict('the thread is being given to another owner: try again');
