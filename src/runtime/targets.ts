import { NotFound } from '../schema/outcome.ts';
import type { Store } from '../store/index.ts';
import type { Supervisor } from './supervisor.ts';
import { cancellableRun } from './thread-requests.ts';

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

export const NOTHING_TO_CANCEL = 'nothing to cancel';

type Places = { store: Store; supervisor: Pick<Supervisor, 'record' | 'reach'> };

/** Of something that is there it is said what it does not have: a reader of the text looks for it no further. */
export const nothingOn = (
  { store, supervisor }: Places,
  scope: string,
  { id, kind, what }: { id: string; kind: 'run' | 'thread'; what: string },
): NotFound => {
  const isThere =
    store.runs.get(scope, id) ?? store.dispatches.get(scope, id) ?? supervisor.record(scope, id);
  return new NotFound(isThere ? `${what} on ${kind} '${id}'` : `${kind} not found: ${id}`);
};

/** The one run that a cancel means. @throws NotFound */
export const cancelTarget = async (
  { store, supervisor }: Places,
  scope: string,
  id: string,
  kind: 'run' | 'thread',
): Promise<Required<Target>> => {
  const runs = new Map<string, Required<Target>>();
  for (const { thread_id, run_id } of targetsOf(store, scope, id)) {
    const named = run_id ?? (await supervisor.reach(scope, thread_id, cancellableRun));
    if (named !== undefined) runs.set(named, { thread_id, run_id: named });
  }
  const [only, another] = runs.values();
  if (another) throw new NotFound(`'${id}' is a run, and a thread with another run: cancel by another id`);
  if (!only) throw nothingOn({ store, supervisor }, scope, { id, kind, what: NOTHING_TO_CANCEL });
  return only;
};
