import { NotFound } from '../../schema/outcome.ts';
import { hasTag } from '../../schema/run-state.ts';
import type { Store } from '../../store/index.ts';
import { cancelInThread, cancellableRun, decideInThread } from './requests.ts';
import type { KeyedDecision } from './submission.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Cancels and decisions by an id in a path: a run, a dispatch or a thread (runtime.md 11.1, 12). A run that is done is
 * no target, and neither is an id with two different meanings.
 */

type Places = { store: Store; supervisor: Pick<Supervisor, 'record' | 'reach' | 'outside'> };

/** An id, and what the path calls it. */
type Named = { id: string; kind: 'run' | 'thread' };

/** Applies a decision to the first target that has the ticket. @throws NotFound */
export const decideTarget = async (
  places: Places,
  scope: string,
  { id, kind }: Named,
  decision: KeyedDecision,
): Promise<void> => {
  const { store, supervisor } = places;
  for (const { thread_id, ...target } of targetsOf(store, scope, id)) {
    const decided = await supervisor.outside.use(scope, thread_id, (thread) =>
      decideInThread(thread, { ...decision, ...target }),
    );
    if (decided) return;
  }
  throw nothingOn(places, scope, { id, kind, what: `no open decision '${decision.tool_call_id}'` });
};

/** @throws NotFound */
export const cancelTarget = async (places: Places, scope: string, { id, kind }: Named): Promise<void> => {
  const { thread_id, run_id } = await runToCancel(places, scope, { id, kind });
  const reached = await places.supervisor.outside.use(scope, thread_id, (thread) =>
    cancelInThread(thread, run_id),
  );
  if (!reached) throw nothingOn(places, scope, { id, kind, what: NOTHING_TO_CANCEL });
};

type Target = { thread_id: string; run_id?: string };

const targetsOf = (store: Store, scope: string, id: string): Target[] => {
  const runTarget = (run_id: string): Target[] => {
    const run = store.runs.get(scope, run_id);
    return run && !hasTag(run, 'done') ? [{ thread_id: run.thread_id, run_id }] : [];
  };
  const dispatch = store.dispatches.get(scope, id);
  const byRun = runTarget(id);
  const byDispatch = dispatch && dispatch.run_id !== id ? runTarget(dispatch.run_id) : [];
  const byThread = store.threads.get(scope, id) ? [{ thread_id: id }] : [];
  return [...byRun, ...byDispatch, ...byThread];
};

const NOTHING_TO_CANCEL = 'nothing to cancel';

/** For an existing target, the error names what it lacks, so that a client does not search for the target itself. */
const nothingOn = (
  { store, supervisor }: Places,
  scope: string,
  { id, kind, what }: Named & { what: string },
): NotFound => {
  const isThere =
    store.runs.get(scope, id) ?? store.dispatches.get(scope, id) ?? supervisor.record(scope, id);
  return new NotFound(isThere ? `${what} on ${kind} '${id}'` : `${kind} not found: ${id}`);
};

/** Returns the single run that a cancel refers to. @throws NotFound */
const runToCancel = async (
  { store, supervisor }: Places,
  scope: string,
  { id, kind }: Named,
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
