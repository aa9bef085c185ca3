import type { ResolvedAgent } from '../../loop/agent.ts';
import { callsLeft } from '../../loop/calls.ts';
import { openTasksIn } from '../../loop/remote-state.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { RuntimeDeps } from '../deps.ts';

/**
 * Cancels tasks at other services that runs no longer wait for, based on the records of runs (a2a.md 12.9, 12.10).
 *
 * Guarantees: a run that ends leaves no remote task behind that asks for input or, after a crash, still works; the same
 * applies to a call that waits for a remote task and is declined, superseded or cancelled, or whose process died and
 * that cannot continue. Each task is cancelled once, by the write that abandons it.
 * Relies on the follower of a task to cancel it when the run is interrupted, and on the record showing this by then.
 * Cost: for local runs, one lookup per record and a check of each call of the last step.
 */
export const cancelOrphanedTasks = (
  { resolve, log }: Pick<RuntimeDeps, 'resolve' | 'log'>,
  after: RunRecord,
  before: RunRecord | undefined,
): void => {
  const over = hasTag(after, 'done') && !(before && hasTag(before, 'done'));
  const tasks = over ? openTasksIn(after.state) : [];
  const calls = callsLeft(before?.state, after.state, over);
  if (tasks.length + calls.length === 0) return;
  const { run_id, agent_id, resolution_id } = after;
  let agent: ResolvedAgent;
  try {
    agent = resolve(agent_id, resolution_id);
  } catch (err) {
    log.warn('remote_task.orphaned', { err, run_id });
    return;
  }
  for (const { key, task_id } of tasks) {
    if (agent.remote?.key === key) void agent.remote.cancel(task_id);
  }
  for (const { tool_name, resume_with } of calls) agent.tools.get(tool_name)?.giveUp?.(resume_with);
};
