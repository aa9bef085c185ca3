import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { ListedRun, OpenDispatch, RunningRun, ScopedPending } from '../store/index.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Supervisor } from './supervisor.ts';
import { wakeThread } from './thread-alarm.ts';
import { settleRunning, takeUpChild, tellThread } from './thread-requests.ts';

/**
 * Takes up what an earlier process left behind (runtime.md 17). Making the actor
 * of a thread reclaims dispatches whose worker is gone, waking it starts what is queued; runs that wait stay as
 * they are, unless they wait for tasks: those are gone with their process, and the run is told so. Runs of sub-agents
 * end with the call that drove them. A run that is listed as running and has no open dispatch is ended
 * (`stray-runs.ts`).
 *
 * Guarantees: nothing is claimed before `begin`; the event loop turns between slices of the work; what fails for one
 * thread is logged with its id, and left alone. Threads go on in the order in which their work came. Reads open
 * dispatches, pending messages and the list of running runs, however much has ended.
 */

export type Recovery = {
  /** Every thread that an earlier process left work on is known. */
  isKnown(): boolean;
  /** The first actor of the thread is about to be made, and will change what is queued. */
  meet(scope: string, thread_id: string): void;
  /** Resolves when everything has been taken up, or `stop` was called. */
  begin(): Promise<void>;
  stop(): void;
};

type Thread = { scope: string; thread_id: string; since: number };

/** Rows read, and threads taken up, in one turn of the event loop. */
const ROWS_A_TURN = 256;
const THREADS_A_TURN = 32;

/** Whoever waits for it is told so often how far it is. */
const TELL_MS = 1000;

export const createRecovery = (
  { store, log, clock, observe }: Pick<RuntimeDeps, 'store' | 'log' | 'clock' | 'observe'>,
  supervisor: () => Pick<Supervisor, 'use'>,
): Recovery => {
  const found = new Map<string, Thread>();
  /** Threads that had an actor before their work was found: what they had queued has been counted. */
  const met = new Set<string>();
  /** Runs with an open dispatch. */
  const open = new Set<string>();
  const strays: RunningRun[] = [];
  /** Before this process begins a run of its own. */
  const children = store.driven.all(undefined, Number.MAX_SAFE_INTEGER);
  let isKnown = false;
  let isStopped = false;

  const counted = (status: Dispatch['status']): void => observe.mailbox.moved(status, undefined);

  const noteWork = ({ scope, dispatch_id, dispatch }: OpenDispatch): void => {
    if (!dispatch) {
      log.error({ dispatch_id, scope }, 'a dispatch is listed and has no record: see `troupe doctor`');
      return;
    }
    const { thread_id, created_at, status } = dispatch;
    open.add(keyOf(scope, dispatch.run_id));
    const key = keyOf(scope, thread_id);
    const since = Math.min(found.get(key)?.since ?? created_at, created_at);
    found.set(key, { scope, thread_id, since });
    if (!met.has(key)) counted(status);
  };

  const noteStray = ({ scope, entry: { thread_id, pending_id } }: ScopedPending): void => {
    if (!found.has(keyOf(scope, thread_id)) && !met.has(keyOf(scope, thread_id)))
      log.warn({ thread_id, pending_id }, 'a message waits on a thread that has no work');
  };

  const noteRunning = (running: RunningRun): void => {
    if (!open.has(keyOf(running.scope, running.run_id))) strays.push(running);
  };

  /** Page by page, the loop turning between them: nobody else waits for all of it. */
  const eachRow = async <Row>(
    read: (after: Row | undefined, limit: number) => Row[],
    note: (row: Row) => void,
  ): Promise<void> => {
    let after: Row | undefined;
    // Whoever has stopped it may have closed the store meanwhile.
    while (!isStopped) {
      const page = read(after, ROWS_A_TURN);
      for (const row of page) note(row);
      after = page.at(-1);
      await turn();
      if (after === undefined) return;
    }
  };

  const take = async ({ scope, thread_id }: Thread): Promise<void> => {
    try {
      await supervisor().use(scope, thread_id, wakeThread);
    } catch (err) {
      log.error({ err, thread_id }, 'the work of a thread cannot be taken up: see `troupe doctor`');
    }
  };

  const inSlices = async <Item>(
    items: readonly Item[],
    act: (item: Item) => Promise<void>,
    tell: (done: number) => void,
  ): Promise<void> => {
    for (let first = 0; first < items.length && !isStopped; first += THREADS_A_TURN) {
      await Promise.all(items.slice(first, first + THREADS_A_TURN).map(act));
      tell(Math.min(items.length, first + THREADS_A_TURN));
      await turn();
    }
  };

  /** What is done within a second is told by its end alone. */
  const teller = (threads: number): ((done: number) => void) => {
    let toldAt = monotonic(clock);
    return (done) => {
      if (monotonic(clock) - toldAt < TELL_MS) return;
      toldAt = monotonic(clock);
      log.info({ done, threads }, 'taking up the work of an earlier process');
    };
  };

  /** Making the actor of its thread has ended one that executed. */
  const takeChild = async ({ scope, thread_id, run_id }: ListedRun): Promise<void> => {
    try {
      await supervisor().use(scope, thread_id, (thread) => takeUpChild(thread, run_id));
    } catch (err) {
      log.error({ err, thread_id, run_id }, 'a run of a sub-agent is not settled with its parent');
    }
  };

  /** A run that this process began meanwhile is among them, and is left as it is. */
  const settleStray = async ({ scope, run_id }: RunningRun): Promise<void> => {
    const thread_id = store.runs.get(scope, run_id)?.thread_id;
    if (thread_id === undefined) return;
    try {
      const ended = await supervisor().use(scope, thread_id, (thread) => settleRunning(thread, run_id));
      if (ended) log.warn({ thread_id, run_id }, 'ended a run that was recorded as running without work');
    } catch (err) {
      log.error({ err, thread_id, run_id }, 'a run without work cannot be ended: see `troupe doctor`');
    }
  };

  const wake = async ({ scope, thread_id, run_id }: ListedRun): Promise<void> => {
    try {
      await supervisor().use(scope, thread_id, (thread) => tellThread(thread, { run_id, staged() {} }));
    } catch (err) {
      log.error({ err, thread_id, run_id }, 'a run that waits for tasks is not woken');
    }
  };

  const wakeAll = async (): Promise<void> => {
    let after: ListedRun | undefined;
    while (!isStopped) {
      const page = store.awaiting.all(after, THREADS_A_TURN);
      await Promise.all(page.map(wake));
      after = page.at(-1);
      if (after === undefined) return;
    }
  };

  return {
    isKnown: () => isKnown,
    meet(scope, thread_id) {
      const key = keyOf(scope, thread_id);
      if (isKnown || found.has(key) || met.has(key)) return;
      met.add(key);
      for (const { status } of store.dispatches.openOf(scope, thread_id)) counted(status);
    },
    async begin() {
      await eachRow(store.dispatches.open, noteWork);
      await eachRow(store.pending.all, noteStray);
      const threads = Array.from(found.values()).sort((a, b) => a.since - b.since);
      isKnown = true;
      found.clear();
      met.clear();
      await eachRow(store.runs.running, noteRunning);
      open.clear();
      // Before their parents go on, which may start others.
      await inSlices(children.splice(0), takeChild, () => {});
      await inSlices(strays.splice(0), settleStray, () => {});
      await inSlices(threads, take, teller(threads.length));
      await wakeAll();
      if (threads.length > 0) log.info({ threads: threads.length }, 'work of an earlier process goes on');
    },
    stop() {
      isStopped = true;
    },
  };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const keyOf = (scope: string, thread_id: string): string => `${scope}\0${thread_id}`;
