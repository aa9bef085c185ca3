import type { RuntimeDeps } from '../deps.ts';
import { isLoaded, loadHistory } from '../ledger/history-loading.ts';
import { createFailedThreads, type FailedThreads } from './failed-threads.ts';
import { closeThread, isEvictable, isWithoutWork } from './lifecycle.ts';
import type { FailureHistory, Thread } from './state.ts';
import { wakeThread } from './timer.ts';

/**
 * The thread actors of this process; there is at most one actor per thread.
 *
 * Guarantees: an actor that is in use, executes, has suspended or queued runs, or has a commit in progress stays in
 * `busy` and is never evicted. Only an idle actor moves to `idle`, an LRU of IDLE_ACTORS entries; an evicted actor is
 * rebuilt from the store with a few reads. Each use moves the actor back to `busy` first.
 * Cost: two map operations per use, and an idleness check whenever an actor may have become idle.
 */
export type ThreadActors = {
  readonly deps: Pick<RuntimeDeps, 'store'>;
  readonly busy: Map<string, Cell>;
  /** In the order of use: an actor that becomes idle goes to the end. */
  readonly idle: Map<string, Cell>;
  /** Threads whose previous actor has not written everything yet. */
  readonly retired: Map<string, Promise<void>>;
  /**
   * Threads that are being moved (`vacate.ts`). Rejects at the place that a thread has left: a request that has waited
   * was meant for the thread, and must not create another one with its former id.
   */
  readonly moving: Map<string, Promise<void>>;
  /** Threads whose actor failed with work left. */
  readonly failed: FailedThreads;
  /** Creates the actor of a thread in its cell. */
  readonly make: (cell: Cell) => void;
};

/** Cleared when its actor is dropped, so that remaining references to the cell do not retain the actor. */
export type Cell = {
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  thread: Thread | undefined;
  users: number;
};

export type Use = <Answer>(
  scope: string,
  id: string,
  act: (thread: Thread) => Answer | Promise<Answer>,
) => Promise<Answer>;

const IDLE_ACTORS = 32;

export function createThreadActors(deps: RuntimeDeps, make: ThreadActors['make']): ThreadActors {
  return {
    deps,
    make,
    busy: new Map(),
    idle: new Map(),
    retired: new Map(),
    moving: new Map(),
    failed: createFailedThreads(deps),
  };
}

/** Returns the current actor of the thread, if it has one. */
export function findActor(actors: ThreadActors, scope: string, id: string): Thread | undefined {
  return findCell(actors, keyOf(scope, id))?.thread;
}

/** Returns the actors that are not idle. */
export function busyActors({ busy }: ThreadActors): Thread[] {
  return Array.from(busy.values()).flatMap(({ thread }) => thread ?? []);
}

type UseOptions = {
  /** Whether the history is loaded for a thread without work, too. */
  needsHistory: boolean;
  /** Called directly before the actor is used. @throws an error that rejects the use */
  check?: () => void;
};

/**
 * Returns a function that calls `act` with the actor, after the previous actor of the thread has written everything: two
 * actors that write the log of one thread at the same time would assign the same sequence numbers.
 */
export function createUse(actors: ThreadActors, options: UseOptions): Use {
  return async (scope, id, act) => {
    const key = keyOf(scope, id);
    for (;;) {
      for (let held = holderOf(actors, scope, id); held; held = holderOf(actors, scope, id)) await held;
      const isNew = findCell(actors, key) === undefined;
      const cell = engage(actors, scope, id);
      const { thread } = cell;
      if (!thread) throw new Error(`thread '${id}' has no actor`);
      const used = await actOn(actors, { cell, thread, isNew, options }, act);
      if (used) return used.answer;
    }
  };
}

/** Drops an actor that must not be used again; a replacement may be created once `quiet` resolves. */
export function retireActor(
  actors: ThreadActors,
  cell: Cell,
  { thread, quiet, past }: { thread: Thread; quiet: Promise<void>; past: FailureHistory | undefined },
): void {
  const { key, scope, id } = cell;
  if (past) actors.failed.record(key, { scope, id }, past);
  if (cell.thread !== thread) return;
  cell.thread = undefined;
  actors.busy.delete(key);
  actors.idle.delete(key);
  closeThread(thread);
  const ending = quiet.then(() => {
    if (actors.retired.get(key) === ending) actors.retired.delete(key);
  });
  actors.retired.set(key, ending);
}

/** Makes the actor evictable if it is idle, and evicts the one that has been idle for the longest time. */
export function settleActor({ busy, idle }: ThreadActors, cell: Cell): void {
  const { key, thread } = cell;
  if (!thread || cell.users > 0 || !isEvictable(thread) || !busy.delete(key)) return;
  idle.set(key, cell);
  if (idle.size <= IDLE_ACTORS) return;
  const [oldest] = idle.values();
  if (!oldest) return;
  idle.delete(oldest.key);
  if (oldest.thread) closeThread(oldest.thread);
  oldest.thread = undefined;
}

/** Ends all actors. Their cells remain, so that nothing creates another actor in their place. */
export function closeActors({ busy, idle }: ThreadActors): void {
  for (const { thread } of [...busy.values(), ...idle.values()]) if (thread) closeThread(thread);
}

/** Returns the cell in `busy`, after moving or creating it if necessary. */
function engage(actors: ThreadActors, scope: string, id: string): Cell {
  const { busy, idle } = actors;
  const key = keyOf(scope, id);
  const found = findCell(actors, key);
  const cell: Cell = found ?? { key, scope, id, thread: undefined, users: 0 };
  if (!found) actors.make(cell);
  idle.delete(key);
  busy.set(key, cell);
  return cell;
}

type InUse = { cell: Cell; thread: Thread; isNew: boolean; options: UseOptions };

/** Undefined when the actor was retired while it loaded: `act` has not been called. */
async function actOn<Answer>(
  actors: ThreadActors,
  { cell, thread, isNew, options }: InUse,
  act: (thread: Thread) => Answer | Promise<Answer>,
): Promise<{ answer: Answer } | undefined> {
  cell.users += 1;
  try {
    if ((options.needsHistory || !isWithoutWork(thread)) && !isLoaded(thread.ledger)) {
      await loadHistory(thread.ledger);
      if (cell.thread !== thread) return undefined;
    }
    // Unfinished work is resumed before new work is added.
    if (isNew && !isEvictable(thread)) wakeThread(thread);
    options.check?.();
    return { answer: await act(thread) };
  } finally {
    cell.users -= 1;
    settleActor(actors, cell);
  }
}

/** Returns what must end before the thread may have an actor. */
function holderOf(
  { moving, retired, deps }: ThreadActors,
  scope: string,
  id: string,
): Promise<void> | undefined {
  const key = keyOf(scope, id);
  const held = moving.get(key) ?? retired.get(key);
  if (held) return held;
  // A thread that reuses the id of a deleted one must not inherit its rows.
  const { removals } = deps.store;
  return removals.isMarked(scope, id) ? removals.finish(scope, id) : undefined;
}

/** Returns the cell of a thread that has one. */
export function findCell({ busy, idle }: ThreadActors, key: string): Cell | undefined {
  return busy.get(key) ?? idle.get(key);
}

export function keyOf(scope: string, id: string): string {
  return `${scope}\0${id}`;
}
