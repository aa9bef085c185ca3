import { descendants } from '../../schema/lineage.ts';
import { Conflict, NotFound } from '../../schema/outcome.ts';
import type { Place } from '../../schema/place.ts';
import { hasTag } from '../../schema/run-state.ts';
import type { Thread } from '../../schema/thread.ts';
import type { Store, TransferPlan } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { threadFacts } from '../ledger/event-payloads.ts';
import type { Thread as ThreadActor } from './state.ts';
import type { Supervisor } from './supervisor.ts';
import { wakeThread } from './timer.ts';

/**
 * Gives a thread, with all threads below it, to another owner (identity.md 1.3).
 *
 * Guarantees: the threads move in one commit (`store/transfers.ts`). Runs continue: those that execute stop at their last
 * commit, as when the service restarts, and continue at the new place.
 */
export type TransferRequest = Place & {
  /** The partition of the new owner. */
  to: string;
};

/** Threads and runs of one partition. */
export type MovedWork = { scope: string; threads: readonly string[]; runs: readonly string[] };

/**
 * Called before threads move: what follows their runs must stop until the returned function is called, with the new
 * places, or with nothing if the threads have stayed.
 */
export type TransferListener = (from: MovedWork) => (to: MovedWork | undefined) => void;

type Deps = Pick<RuntimeDeps, 'clock' | 'ids' | 'store' | 'log' | 'events'> & {
  supervisor: Supervisor;
  listeners: ReadonlySet<TransferListener>;
};

/** @throws NotFound; Conflict while runs of sub-agents or background tasks execute */
export const transferThread = async (deps: Deps, { scope, id, to }: TransferRequest): Promise<Thread> => {
  const { store, supervisor } = deps;
  const existing = await supervisor.outside.reach(scope, id, ({ ledger }) => ledger.record);
  if (!existing) throw new NotFound(`thread not found: ${id}`);
  if (scope === to) return existing.thread;
  const threads = [id, ...descendants((above) => store.threads.children(scope, above), id)];
  const check = (thread: ThreadActor): void => checkMovable(deps, thread);
  let woken = { scope, threads };
  try {
    const plan = await supervisor.vacate({ scope, ids: threads, check }, async (reserve) => {
      // Commits of other modules for these threads, and of earlier requests, become visible before this one.
      await barrier(store, scope, id);
      checkParent(store, { scope, id });
      return move(deps, { from: scope, to, threads }, reserve);
    });
    woken = { scope: to, threads: threads.map((each) => plan.names.threads.get(each) ?? each) };
  } finally {
    await wake(deps, woken);
  }
  const [moved = id] = woken.threads;
  const after = store.threads.get(to, moved);
  if (!after) throw new NotFound(`thread not found: ${moved}`);
  return after.thread;
};

const move = async (
  deps: Deps,
  { from, to, threads }: { from: string; to: string; threads: readonly string[] },
  reserve: (scope: string, ids: Iterable<string>) => void,
): Promise<TransferPlan> => {
  const { store, clock } = deps;
  const [id = ''] = threads;
  const before = store.threads.get(from, id);
  if (!before) throw new NotFound(`thread not found: ${id}`);
  const runs = threads.flatMap((each) => store.runs.ofThread(from, each).map(({ run_id }) => run_id));
  const resume = Array.from(deps.listeners, (listener) => listener({ scope: from, threads, runs }));
  let moved: MovedWork | undefined;
  try {
    await barrier(store, from, id);
    const at = Math.max(clock.now(), before.thread.metadata.updated_at ?? 0);
    const plan = store.transfers.plan({ from, to, threads, at });
    reserve(to, plan.names.threads.values());
    const batch = store.batch({ scope: from, thread_id: id });
    await store.transfers.add(batch, plan);
    logTransfer(deps, { batch, plan, before: before.thread });
    await store.commit(batch, 'input');
    moved = { scope: to, threads: [...plan.names.threads.values()], runs: [...plan.names.runs.values()] };
    return plan;
  } finally {
    for (const each of resume) each(moved);
  }
};

/** Resolves when all commits that were made before are visible. */
const barrier = (store: Store, scope: string, id: string): Promise<void> => {
  const batch = store.batch({ scope, thread_id: id });
  // Removes nothing: a run is listed under its own id.
  store.driven.remove(batch, { scope, thread_id: id, run_id: 'barrier' });
  return store.commit(batch);
};

const logTransfer = (
  { store, events, ids }: Deps,
  { batch, plan, before }: { batch: ReturnType<Store['batch']>; plan: TransferPlan; before: Thread },
): void => {
  if (!events) return;
  const id = plan.names.threads.get(before.id) ?? before.id;
  const { parent_thread_id: _, ...rest } = before;
  const facts = threadFacts({ ...rest, id, metadata: { ...before.metadata, updated_at: plan.at } });
  const { resource_id, parent_thread_id, title, updated_at } = threadFacts(before);
  store.events.append(batch, plan.to, id, store.events.last(plan.from, before.id) + 1, [
    {
      event_id: `evt_${ids.uuid()}_0`,
      event_kind: 'ThreadUpdated',
      payload: { ...facts, previous: { resource_id, parent_thread_id, title, updated_at } },
      thread_id: id,
      correlation_id: id,
      origin: 'server',
      visibility: 'public',
      created_at: plan.at,
    },
  ]);
};

/** Work that a call of another run drives in this process would lose its caller. @throws Conflict */
const checkMovable = ({ supervisor }: Deps, { id, scope, active }: ThreadActor): void => {
  if (active && active.dispatch === undefined)
    throw new Conflict(
      `thread '${id}' executes a run for a call of another run: try again when it has ended`,
    );
  if (supervisor.hasTasks(scope, id))
    throw new Conflict(`thread '${id}' has background tasks: try again when they have ended`);
};

/** The run of a sub-agent belongs to the run that waits for it. @throws Conflict */
const checkParent = ({ threads, runs }: Store, { scope, id }: Place): void => {
  if (threads.get(scope, id)?.thread.parent_thread_id === undefined) return;
  const isAwaited = runs.waitingOf(scope, id).some(({ parent_run_id }) => {
    const parent = parent_run_id === null ? undefined : runs.get(scope, parent_run_id);
    return parent !== undefined && !hasTag(parent, 'done');
  });
  if (isAwaited)
    throw new Conflict(`a run of the parent of thread '${id}' waits for it: change the owner of the parent`);
};

/** Creates the actors again; those with open work resume it. */
const wake = async (
  { supervisor, log }: Deps,
  { scope, threads }: { scope: string; threads: readonly string[] },
): Promise<void> => {
  const woken = threads.map((id) =>
    supervisor
      .use(scope, id, wakeThread)
      .catch((err) => log.error('thread.start_failed', { err, thread_id: id })),
  );
  await Promise.all(woken);
};
