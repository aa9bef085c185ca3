import type { ThreadRecord } from '../store/index.ts';
import { type Abandoned, createAbandoned } from './abandoned.ts';
import { createChildRuns } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import { isLoaded, loadHistory } from './history-loading.ts';
import type { Peers } from './mail.ts';
import { createSlots, inLine, slotOf } from './slots.ts';
import { createTaskBoard } from './tasks.ts';
import { NO_PAST, type Thread } from './thread.ts';
import { wakeThread } from './thread-alarm.ts';
import { adoptReaders, closeThread, isPassive, isWithoutWork, makeThread } from './thread-life.ts';
import { cancelInThread, decideInThread, submit, tellThread } from './thread-requests.ts';

/**
 * Finds or makes the actor of a thread; there is never more than one.
 *
 * Guarantees: an actor that somebody uses, that executes, holds, has queued work or writes is in `busy`, where
 * nothing is ever dropped. Only when it says that it is passive does it move to `passive`, whose least recently used
 * ones are dropped past IDLE_ACTORS: they cost a few reads of the store to make again. Whoever asks for an actor moves
 * it back first. Costs two map operations a use and a look at one actor whenever that may have become passive.
 */
const IDLE_ACTORS = 32;

export type Supervisor = {
  /**
   * Asks the actor, once the last one of the thread has written what it had: two actors that write the log of one
   * thread at a time would give out the same sequence numbers. `act` asks before it waits for anything, since an
   * actor that has been retired meanwhile does not answer. The history is loaded before `act` is called.
   */
  use: Use;
  /** The same for a request that needs no history: that of a thread without work is not loaded. */
  reach: Use;
  /** The record as the newest commit, also one under way, has it. Makes no actor. */
  record(scope: string, id: string): ThreadRecord | undefined;
  /** Those that are not passive. */
  busy(): Thread[];
  /** Threads whose runs wait for their turn. */
  inLine(): number;
  /** What tasks still do is for nobody: the process ends. */
  stopTasks(): void;
  /** Threads whose actor failed with work left. */
  readonly abandoned: Abandoned;
};

export type Use = <Answer>(
  scope: string,
  id: string,
  act: (thread: Thread) => Answer | Promise<Answer>,
) => Promise<Answer>;

export type SupervisorOptions = {
  /** False while the service stops. */
  accepting(): boolean;
  /** Called before an actor of the thread is made. */
  onMake(scope: string, id: string): void;
};

/** Emptied when its actor is dropped, so that nothing that still knows the cell keeps the actor. */
type Cell = {
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  thread: Thread | undefined;
  users: number;
};

export const createSupervisor = (deps: RuntimeDeps, { accepting, onMake }: SupervisorOptions): Supervisor => {
  const busy = new Map<string, Cell>();
  /** In the order of use: an actor that becomes passive goes to the end. */
  const passive = new Map<string, Cell>();
  const retired = new Map<string, Promise<void>>();
  const abandoned = createAbandoned(deps);

  const keyOf = (scope: string, id: string): string => `${scope}\0${id}`;

  const make = (cell: Cell): Thread => {
    const { key, scope, id } = cell;
    onMake(scope, id);
    const left = abandoned.of(key);
    const made: Thread = makeThread(deps, {
      scope,
      id,
      slot: slotOf(slots, scope, id),
      past: left?.past ?? NO_PAST,
      around: {
        tasks,
        peers,
        accepting,
        onRetired(quiet, past) {
          if (past) abandoned.add(key, { scope, id }, past);
          if (cell.thread !== made) return;
          cell.thread = undefined;
          busy.delete(key);
          passive.delete(key);
          closeThread(made);
          const gone = quiet.then(() => {
            if (retired.get(key) === gone) retired.delete(key);
          });
          retired.set(key, gone);
        },
        onStreamLeft: (run_id, channel) => abandoned.keep(key, { scope, id }, run_id, channel),
        onSettled: () => settle(cell),
        children: createChildRuns(deps, {
          scope,
          id,
          cancel: (thread_id, run_id) => use(scope, thread_id, (thread) => cancelInThread(thread, run_id)),
          decide: (thread_id, target) => use(scope, thread_id, (thread) => decideInThread(thread, target)),
        }),
      },
    });
    cell.thread = made;
    abandoned.taken(key);
    for (const [run_id, channel] of left?.streams ?? []) adoptReaders(made, run_id, channel);
    return made;
  };

  /** The actor in `busy`: found, moved there, or made. */
  const engage = (scope: string, id: string): Cell => {
    const key = keyOf(scope, id);
    const found = busy.get(key) ?? passive.get(key);
    const cell: Cell = found ?? { key, scope, id, thread: undefined, users: 0 };
    if (!found) make(cell);
    passive.delete(key);
    busy.set(key, cell);
    return cell;
  };

  const settle = (cell: Cell): void => {
    const { key, thread } = cell;
    if (!thread || cell.users > 0 || !isPassive(thread) || !busy.delete(key)) return;
    passive.set(key, cell);
    if (passive.size <= IDLE_ACTORS) return;
    const [oldest] = passive.values();
    if (!oldest) return;
    passive.delete(oldest.key);
    if (oldest.thread) closeThread(oldest.thread);
    oldest.thread = undefined;
  };

  /** Undefined when the actor was retired while it loaded: `act` has not been called. */
  const actOn = async <Answer>(
    cell: Cell,
    thread: Thread,
    { isNew, needsHistory }: { isNew: boolean; needsHistory: boolean },
    act: (thread: Thread) => Answer | Promise<Answer>,
  ): Promise<{ answer: Answer } | undefined> => {
    cell.users += 1;
    try {
      if ((needsHistory || !isWithoutWork(thread)) && !isLoaded(thread.ledger)) {
        await loadHistory(thread.ledger);
        if (cell.thread !== thread) return undefined;
      }
      // Work that was left goes on before anybody adds to it.
      if (isNew && !isPassive(thread)) wakeThread(thread);
      return { answer: await act(thread) };
    } finally {
      cell.users -= 1;
      settle(cell);
    }
  };

  const createUse =
    (needsHistory: boolean): Use =>
    async (scope, id, act) => {
      const key = keyOf(scope, id);
      for (;;) {
        for (let gone = retired.get(key); gone; gone = retired.get(key)) await gone;
        // A thread that gets the id of a deleted one must not inherit its rows.
        if (deps.store.removals.isMarked(scope, id)) await deps.store.removals.finish(scope, id);
        const isNew = !busy.has(key) && !passive.has(key);
        const cell = engage(scope, id);
        const { thread } = cell;
        if (!thread) throw new Error(`thread '${id}' has no actor`);
        const used = await actOn(cell, thread, { isNew, needsHistory }, act);
        if (used) return used.answer;
      }
    };
  const use = createUse(true);

  const slots = createSlots(deps.settings.max_concurrent_runs, (scope, thread_id) =>
    use(scope, thread_id, wakeThread).catch((err) =>
      deps.log.error({ err, thread_id }, 'the queued work of a thread could not be started'),
    ),
  );
  const tasks = createTaskBoard({
    clock: deps.clock,
    ids: deps.ids,
    log: deps.log,
    observe: deps.observe,
    deliver: (scope, id, event) => use(scope, id, (thread) => tellThread(thread, event)),
  });

  const record: Supervisor['record'] = (scope, id) => {
    const key = keyOf(scope, id);
    const thread = (busy.get(key) ?? passive.get(key))?.thread;
    return thread ? thread.ledger.record : deps.store.threads.get(scope, id);
  };

  const peers: Peers = {
    record,
    submit: (scope, id, submission) => use(scope, id, (thread) => submit(thread, submission)),
  };

  return {
    use,
    reach: createUse(false),
    record,
    busy: () => Array.from(busy.values()).flatMap(({ thread }) => thread ?? []),
    inLine: () => inLine(slots),
    stopTasks: tasks.stop,
    abandoned,
  };
};
