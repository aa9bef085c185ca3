import type { Thread } from '../../schema/thread.ts';
import type { Store } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { changeThread, openWrite } from '../ledger/transaction.ts';
import { deleteThread } from './requests.ts';
import type { Thread as ThreadActor } from './state.ts';
import type { Supervisor } from './supervisor.ts';

/** The expiry of threads, and their deletion with everything that belongs to them. */

type ExpiryDeps = Pick<RuntimeDeps, 'clock' | 'store'> & { supervisor: Supervisor };

/** When a thread expires that has had no run after the latest one. */
export type ThreadExpiry = {
  /** Milliseconds. */
  at: number;
  latest_run_id: string | undefined;
};

export async function expire(deps: ExpiryDeps, thread: ThreadActor): Promise<void> {
  const { clock } = deps;
  const { ledger } = thread;
  const found = ledger.record?.thread;
  const now = clock.now();
  if (found?.expires_at === undefined || found.expires_at > now) return;
  if (found.open_run_id !== undefined || found.active_run_id !== undefined) {
    await postpone(ledger, now, found);
    return;
  }
  await erase(deps, thread);
}

export async function expireAt(
  { clock }: ExpiryDeps,
  { ledger }: ThreadActor,
  { at, latest_run_id }: ThreadExpiry,
): Promise<void> {
  const found = ledger.record?.thread;
  if (!found || found.expires_at !== undefined || found.latest_run_id !== latest_run_id) return;
  const write = openWrite(ledger, clock.now());
  changeThread(write, (thread) => ({ ...thread, expires_at: at }));
  await commit(write, 'progress');
}

export async function erase(deps: ExpiryDeps, thread: ThreadActor): Promise<void> {
  const { store } = deps;
  const { scope, id, ledger } = thread;
  const found = ledger.record?.thread;
  if (!found || found.open_run_id !== undefined || found.active_run_id !== undefined) return;
  // The thread is deleted last, so that an interrupted erasure is repeated.
  await eraseRuns(store, scope, id);
  const orphans = store.threads.children(scope, id);
  await deleteThread(thread, 'detach', { isErased: true });
  await Promise.all(orphans.map((child) => detach(deps, scope, child)));
}

/** A thread that waits is kept for its whole time again. */
async function postpone(ledger: ThreadActor['ledger'], now: number, found: Thread): Promise<void> {
  const span = (found.expires_at ?? now) - (found.metadata.created_at ?? now);
  const write = openWrite(ledger, now);
  changeThread(write, (thread) => ({ ...thread, expires_at: now + Math.max(span, SHORTEST_SPAN_MS) }));
  await commit(write, 'progress');
}

const SHORTEST_SPAN_MS = 60_000;

/** Runs of one commit. */
const ERASED_AT_ONCE = 200;

async function eraseRuns(store: Store, scope: string, thread_id: string): Promise<void> {
  const runs = store.runs.ofThread(scope, thread_id);
  for (let from = 0; from < runs.length; from += ERASED_AT_ONCE) {
    const batch = store.batch({ scope, thread_id });
    for (const run of runs.slice(from, from + ERASED_AT_ONCE)) {
      store.runs.remove(batch, scope, run);
      store.traces.remove(batch, run.run_id);
    }
    await store.commit(batch, 'progress');
  }
  const batch = store.batch({ scope, thread_id });
  const page = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
  for (const dispatch of store.dispatches.listByThread(scope, thread_id, page))
    store.dispatches.remove(batch, scope, dispatch);
  const run_ids = runs.map(({ run_id }) => run_id);
  store.events.removeAll(batch, scope, thread_id, run_ids);
  await store.commit(batch, 'progress');
}

export function detach({ clock, supervisor }: ExpiryDeps, scope: string, child: string): Promise<void> {
  return supervisor.reach(scope, child, async ({ ledger }) => {
    const write = openWrite(ledger, clock.now());
    changeThread(write, ({ parent_thread_id: _removed, ...thread }) => thread);
    await commit(write, 'input');
  });
}
