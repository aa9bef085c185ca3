import { Unavailable } from '../../schema/outcome.ts';
import type { ThreadRecord } from '../../store/index.ts';
import type { Peers } from '../delegation/agent-messages.ts';
import { createTaskBoard, type TaskBoard } from '../delegation/background-tasks.ts';
import { createChildRuns } from '../delegation/child-runs.ts';
import type { RuntimeDeps } from '../deps.ts';
import {
  busyActors,
  type Cell,
  closeActors,
  createThreadActors,
  createUse,
  findActor,
  retireActor,
  settleActor,
  type ThreadActors,
  type Use,
} from './actors.ts';
import { createSlots, retryWaiting, type Slots, slotOf, waitingForSlot } from './concurrency.ts';
import type { FailedThreads } from './failed-threads.ts';
import { adoptReaders, makeThread } from './lifecycle.ts';
import { cancelInThread, decideInThread, deliverTaskEvent, submit } from './requests.ts';
import { NO_FAILURES, type Thread, type ThreadHost } from './state.ts';
import { wakeThread } from './timer.ts';
import { type Move, type Reserve, vacate } from './vacate.ts';

/** Finds or creates the actor of a thread, and connects it with the other parts of the process. */
export type Supervisor = {
  /**
   * Calls `act` with the actor of the thread. `act` must send its request before it awaits anything, since an actor that
   * was retired in the meantime does not respond. The history is loaded before `act` is called.
   */
  use: Use;
  /** Like `use`, for a request that needs no history: the history of a thread without work is not loaded. */
  reach: Use;
  /** The same for requests from outside, which are rejected while the service stops. @throws Unavailable */
  readonly outside: { use: Use; reach: Use };
  /** Calls `work` while no actor serves the threads. @throws Conflict, and what `check` throws */
  vacate<Result>(move: Move, work: (reserve: Reserve) => Promise<Result>): Promise<Result>;
  /** Whether a background task of the thread is not over. */
  hasTasks(scope: string, id: string): boolean;
  /** Returns the record of the newest commit, including one in progress. Creates no actor. */
  record(scope: string, id: string): ThreadRecord | undefined;
  /** Returns the actors that are not idle. */
  busy(): Thread[];
  /** Number of threads waiting for a concurrency slot. */
  waitingForSlot(): number;
  /** Stops all background tasks, because the process ends. */
  stopTasks(): void;
  /** Ends the actors, whose runs were released. */
  close(): void;
  /** Threads whose actor failed with work left. */
  readonly failedThreads: FailedThreads;
};

export type SupervisorOptions = {
  /** False while the service stops. */
  accepting(): boolean;
  /** Called before an actor of the thread is created. */
  onMake(scope: string, id: string): void;
};

export const STOPPING = 'service is shutting down';

export function createSupervisor(deps: RuntimeDeps, options: SupervisorOptions): Supervisor {
  const actors = createThreadActors(deps, (cell) => makeActor(surroundings, cell));
  const use = createUse(actors, { needsHistory: true });
  const surroundings: Surroundings = {
    deps,
    actors,
    use,
    accepting: options.accepting,
    onMake: options.onMake,
    slots: createSlots(deps.settings.max_concurrent_runs, (scope, thread_id) =>
      use(scope, thread_id, wakeThread).catch((err) =>
        deps.log.error('thread.start_failed', { err, thread_id }),
      ),
    ),
    tasks: createTaskBoard({
      clock: deps.clock,
      ids: deps.ids,
      log: deps.log,
      observe: deps.observe,
      deliver: (scope, id, event) => use(scope, id, (thread) => deliverTaskEvent(thread, event)),
    }),
    peers: {
      record: (scope, id) => findRecord(surroundings, scope, id),
      submit: (scope, id, submission) => use(scope, id, (thread) => submit(thread, submission)),
    },
  };
  deps.meter?.onRoom(() => retryWaiting(surroundings.slots));
  const check = (): void => {
    if (!options.accepting()) throw new Unavailable(STOPPING);
  };
  return {
    use,
    reach: createUse(actors, { needsHistory: false }),
    outside: {
      use: createUse(actors, { needsHistory: true, check }),
      reach: createUse(actors, { needsHistory: false, check }),
    },
    vacate: (move, work) => vacate(actors, move, work),
    hasTasks: surroundings.tasks.isBusy,
    record: surroundings.peers.record,
    busy: () => busyActors(actors),
    waitingForSlot: () => waitingForSlot(surroundings.slots),
    stopTasks: surroundings.tasks.stop,
    close: () => closeActors(actors),
    failedThreads: actors.failed,
  };
}

/** The parts of this process that the actors of threads share. */
type Surroundings = SupervisorOptions & {
  readonly deps: RuntimeDeps;
  readonly actors: ThreadActors;
  readonly use: Use;
  readonly slots: Slots;
  readonly tasks: TaskBoard;
  readonly peers: Peers;
};

function findRecord({ actors, deps }: Surroundings, scope: string, id: string): ThreadRecord | undefined {
  const thread = findActor(actors, scope, id);
  return thread ? thread.ledger.record : deps.store.threads.get(scope, id);
}

function makeActor(surroundings: Surroundings, cell: Cell): void {
  const { deps, actors, slots, onMake } = surroundings;
  const { key, scope, id } = cell;
  onMake(scope, id);
  const failed = actors.failed.get(key);
  const made: Thread = makeThread(deps, {
    scope,
    id,
    slot: slotOf(slots, scope, id),
    past: failed?.past ?? NO_FAILURES,
    host: hostFor(surroundings, cell, () => made),
  });
  cell.thread = made;
  actors.failed.clear(key);
  for (const [run_id, channel] of failed?.streams ?? []) adoptReaders(made, run_id, channel);
}

/** `made` returns the actor itself, which exists once it has been created with this host. */
function hostFor(surroundings: Surroundings, cell: Cell, made: () => Thread): ThreadHost {
  const { deps, actors, use, tasks, peers, accepting } = surroundings;
  const { key, scope, id } = cell;
  return {
    tasks,
    peers,
    accepting,
    onRetired: (quiet, past) => retireActor(actors, cell, { thread: made(), quiet, past }),
    onStreamLeft: (run_id, channel) => actors.failed.keepStream(key, { scope, id }, run_id, channel),
    onSettled: () => settleActor(actors, cell),
    children: createChildRuns(deps, {
      scope,
      id,
      cancel: (thread_id, run_id) => use(scope, thread_id, (thread) => cancelInThread(thread, run_id)),
      decide: (thread_id, target) => use(scope, thread_id, (thread) => decideInThread(thread, target)),
    }),
  };
}
