import type { Run } from '../../schema/run.ts';
import type { SubAgentCall, SubAgentOutcome, SubAgents } from '../../tools/sub-agent.ts';
import type { RuntimeDeps } from '../deps.ts';
import { actingUser } from '../run/acting-user.ts';
import type { Use } from '../thread/actors.ts';
import { cancelInThread, submit, untilInactive } from '../thread/requests.ts';
import type { Submission } from '../thread/submission.ts';
import { answerFiles } from './answer-files.ts';
import { inputFor, userMessages } from './child-input.ts';
import { childOutcome, createReader, type Observed } from './child-outcome.ts';

/**
 * Runs that are driven by tool calls of other runs (runtime.md 5.4): on separate threads, without a dispatch.
 *
 * Guarantees: a call that follows a child receives its outcome once; a child whose call is aborted is cancelled. A
 * waiting child is continued by the decision on the call that waits for it.
 * Relies on ChildRuns for all changes while no call follows the child, and on the actor of a thread to end a run whose
 * process has died.
 */

const MAX_DEPTH = 8;

type Delegation = {
  readonly deps: RuntimeDeps;
  readonly use: Use;
  /** Whether this process has released its runs. */
  readonly isReleased: () => boolean;
  /** By scope and root run: runs that are being started and that the store does not count yet. */
  readonly starting: Map<string, number>;
};

type ChildName = Pick<Run, 'run_id' | 'thread_id'>;

export function createSubAgents(deps: RuntimeDeps, use: Use, isReleased: () => boolean): SubAgents {
  const delegation: Delegation = { deps, use, isReleased, starting: new Map() };
  return {
    start: (request) => start(delegation, request),
    proceed: (request) => proceed(delegation, request),
    end(scope, child_run_id) {
      const child = deps.store.runs.get(scope, child_run_id);
      if (child) cancel(delegation, scope, child);
    },
  };
}

async function start(
  delegation: Delegation,
  { agent, prompt, ...call }: Parameters<SubAgents['start']>[0],
): Promise<SubAgentOutcome> {
  const { deps, use } = delegation;
  const { store } = deps;
  const { scope } = call;
  if (call.signal.aborted) return { ...UNSTARTED, status: 'cancelled' };
  try {
    if (depthBelow(delegation, scope, call.run_id) > MAX_DEPTH)
      throw new Error(`sub-agents may be nested ${MAX_DEPTH} levels deep, not more`);
    const observed: Observed = {};
    // A delegate belongs to the same resolution as its parent.
    const parent = store.runs.get(scope, call.run_id);
    const resolution_id = parent?.resolution_id;
    const submission = {
      ...driven(delegation, call, { agent, resolution_id }, observed),
      messages: userMessages(prompt),
      ...(parent && { by: actingUser(parent) }),
    };
    const child = await startBelow(delegation, scope, findRoot(delegation, scope, call.run_id), () =>
      use(scope, deps.ids.uuid(), (thread) => submit(thread, submission)),
    );
    return await follow(delegation, call, child, observed);
  } catch (error) {
    return { ...UNSTARTED, status: 'failed', reason: reasonOf(error) };
  }
}

async function proceed(
  delegation: Delegation,
  { child_run_id, decision, ...call }: Parameters<SubAgents['proceed']>[0],
): Promise<SubAgentOutcome> {
  const { scope } = call;
  const child = delegation.deps.store.runs.get(scope, child_run_id);
  if (!child) return { ...UNSTARTED, status: 'failed', reason: `run not found: ${child_run_id}` };
  try {
    const observed: Observed = {};
    await delegation.use(scope, child.thread_id, async (thread) => {
      // A child that was decided elsewhere has resumed already: its outcome is the result.
      const waiting = thread.ledger.waiting.get(child_run_id);
      const input = waiting && inputFor(waiting, decision);
      if (!input) return;
      await submit(thread, {
        ...driven(delegation, call, { agent: child.agent_id, resolution_id: child.resolution_id }, observed),
        into: child_run_id,
        ...input,
      });
    });
    return await follow(delegation, call, child, observed);
  } catch (error) {
    cancel(delegation, scope, child);
    return { ...UNSTARTED, child_run_id, status: 'failed', reason: reasonOf(error) };
  }
}

const UNSTARTED = { child_run_id: undefined, response: '', steps: 0 };

async function follow(
  delegation: Delegation,
  { scope, signal }: SubAgentCall,
  child: ChildName,
  observed: Observed,
): Promise<SubAgentOutcome> {
  const stop = (): void => cancel(delegation, scope, child);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const run = await delegation.use(scope, child.thread_id, (thread) => untilInactive(thread, child.run_id));
    const outcome = childOutcome(child.run_id, run, observed);
    const files = outcome.status === 'completed' ? answerFiles(delegation.deps.store, scope, child) : [];
    return files.length > 0 ? { ...outcome, files } : outcome;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function cancel(
  { deps, use, isReleased }: Delegation,
  scope: string,
  { run_id, thread_id }: ChildName,
): void {
  // A run that this process releases is ended by the next process.
  if (isReleased()) return;
  use(scope, thread_id, (thread) => cancelInThread(thread, run_id)).catch((error) =>
    deps.log.warn('subagent.cancel_failed', { err: error, run_id, thread_id }),
  );
}

function depthBelow({ deps: { store } }: Delegation, scope: string, run_id: string): number {
  let depth = 1;
  for (let run = store.runs.get(scope, run_id); run?.parent_run_id && depth <= MAX_DEPTH; depth += 1)
    run = store.runs.get(scope, run.parent_run_id);
  return depth;
}

/** Counts the run below its root until the store does, and starts it. */
async function startBelow<Started>(
  { deps, starting }: Delegation,
  scope: string,
  root_run_id: string,
  startChild: () => Promise<Started>,
): Promise<Started> {
  const { max_runs_below_run: most } = deps.settings;
  const key = `${scope}\0${root_run_id}`;
  const inProgress = starting.get(key) ?? 0;
  if (deps.store.runs.countBelow(scope, root_run_id) + inProgress >= most) {
    throw new Error(`a run may start ${most} runs of sub-agents, with those that they start in turn`);
  }
  starting.set(key, inProgress + 1);
  try {
    return await startChild();
  } finally {
    const left = (starting.get(key) ?? 1) - 1;
    if (left === 0) starting.delete(key);
    else starting.set(key, left);
  }
}

function findRoot({ deps: { store } }: Delegation, scope: string, run_id: string): string {
  return store.runs.get(scope, run_id)?.activation?.trace.root_run_id ?? run_id;
}

/** Returns the submission of a run that the call drives, without its messages. */
function driven(
  delegation: Delegation,
  call: SubAgentCall,
  { agent, resolution_id }: { agent: string; resolution_id: string | undefined },
  observed: Observed,
): Omit<Submission, 'messages'> {
  const { run_id, thread_id, call_id, scope } = call;
  return {
    mode: 'sub_agent',
    agent: delegation.deps.resolve(agent, resolution_id),
    named: true,
    origin: 'subagent',
    adapter: 'internal',
    attach: createReader(call, observed),
    parent: { run_id, thread_id, call_id, root_run_id: findRoot(delegation, scope, run_id) },
    context: call.trace,
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
