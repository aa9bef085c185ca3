import { NotFound } from '../schema/outcome.ts';
import type { Store } from '../store/index.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * What an id in a path of cancel and decision means: a run, a dispatch or a thread (runtime.md 11.1, 12). A run
 * that is done is no target, and an id that means two different things is none either.
 */

export type Target = { thread_id: string; run_id?: string };

export const targetsOf = (store: Store, scope: string, id: string): Target[] => {
  const runTarget = (run_id: string): Target[] => {
    const run = store.runs.get(scope, run_id);
    return run && run.status !== 'done' ? [{ thread_id: run.thread_id, run_id }] : [];
  };
  const dispatch = store.dispatches.get(scope, id);
  const byRun = runTarget(id);
  const byDispatch = dispatch && dispatch.run_id !== id ? runTarget(dispatch.run_id) : [];
  const byThread = store.threads.get(scope, id) ? [{ thread_id: id }] : [];
  return [...byRun, ...byDispatch, ...byThread];
};

/** The one run that a cancel means. @throws NotFound */
export const cancelTarget = async (
  { store, supervisor }: { store: Store; supervisor: Supervisor },
  scope: string,
  id: string,
  kind: 'run' | 'thread',
): Promise<Required<Target>> => {
  const runs = new Map<string, Required<Target>>();
  for (const { thread_id, run_id } of targetsOf(store, scope, id)) {
    const named = run_id ?? (await supervisor.use(scope, thread_id, (actor) => actor.cancellable()));
    if (named !== undefined) runs.set(named, { thread_id, run_id: named });
  }
  const [only, another] = runs.values();
  if (!only || another) throw new NotFound(`${kind} not found: ${id}`);
  return only;
};
