import type { Dispatch } from '../../schema/dispatch.ts';
import type { ListedRun, OpenDispatch, RunningRun, ScopedPending } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { eachRow } from './slices.ts';

/**
 * Finds the work that an earlier process left: threads with open dispatches, runs of sub-agents, and runs that are
 * recorded as running although no open dispatch would end them.
 *
 * Cost: reads the open dispatches, the pending messages and the list of running runs, independent of the number of
 * ended runs.
 */

type Deps = Pick<RuntimeDeps, 'store' | 'log' | 'observe'>;

export type FoundThread = { scope: string; thread_id: string; since: number };

export type Search = {
  /** Whether all threads with work of an earlier process have been found. */
  isKnown(): boolean;
  /** Counts the queue of a thread whose actor is created before its work was found. */
  onActorCreated(scope: string, thread_id: string): void;
  /** Returns the threads with work, in the order in which the work arrived. */
  findThreads(isStopped: () => boolean): Promise<FoundThread[]>;
  /** Returns the runs of sub-agents. They were read before this process started a run. */
  takeChildren(): ListedRun[];
  /** Called after `findThreads`. */
  findStrays(isStopped: () => boolean): Promise<RunningRun[]>;
};

export const createSearch = ({ store, log, observe }: Deps): Search => {
  const found = new Map<string, FoundThread>();
  /** Threads that got an actor before their work was found: their queued dispatches have been counted. */
  const countedThreads = new Set<string>();
  /** Runs with an open dispatch. */
  const open = new Set<string>();
  const children = store.driven.all(undefined, Number.MAX_SAFE_INTEGER);
  let isKnown = false;

  const counted = (status: Dispatch['status']): void => observe.mailbox.moved(status, undefined);
  const isNoted = (key: string): boolean => found.has(key) || countedThreads.has(key);

  const noteWork = ({ scope, dispatch_id, dispatch }: OpenDispatch): void => {
    if (!dispatch) {
      log.error('recovery.dispatch_missing', { dispatch_id, scope });
      return;
    }
    const { thread_id, created_at, status } = dispatch;
    open.add(keyOf(scope, dispatch.run_id));
    const key = keyOf(scope, thread_id);
    const since = Math.min(found.get(key)?.since ?? created_at, created_at);
    found.set(key, { scope, thread_id, since });
    if (!countedThreads.has(key)) counted(status);
  };

  const noteInput = ({ scope, entry: { thread_id, pending_id } }: ScopedPending): void => {
    if (!isNoted(keyOf(scope, thread_id))) log.warn('recovery.input_without_run', { thread_id, pending_id });
  };

  return {
    isKnown: () => isKnown,
    onActorCreated(scope, thread_id) {
      const key = keyOf(scope, thread_id);
      if (isKnown || isNoted(key)) return;
      countedThreads.add(key);
      for (const { status } of store.dispatches.openOf(scope, thread_id)) counted(status);
    },
    async findThreads(isStopped) {
      await eachRow(store.dispatches.open, noteWork, isStopped);
      await eachRow(store.pending.all, noteInput, isStopped);
      const threads = Array.from(found.values()).sort((a, b) => a.since - b.since);
      isKnown = true;
      found.clear();
      countedThreads.clear();
      return threads;
    },
    takeChildren: () => children.splice(0),
    async findStrays(isStopped) {
      const strays: RunningRun[] = [];
      const note = (running: RunningRun): void => {
        if (!open.has(keyOf(running.scope, running.run_id))) strays.push(running);
      };
      await eachRow(store.runs.running, note, isStopped);
      open.clear();
      return strays;
    },
  };
};

const keyOf = (scope: string, id: string): string => `${scope}\0${id}`;
