import type { ResolvedAgent } from '../loop/agent.ts';
import { callsLeft } from '../loop/calls.ts';
import { openTasksIn } from '../loop/remote-state.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';

/**
 * Tasks at other services that nobody here waits for any more, seen from the records of runs (a2a.md 12.9, 12.10).
 *
 * Guarantees: a run that ends leaves no task behind that asks for something or, after a crash, still works; nor does a
 * call that waits for one and is declined, superseded or cancelled, or that was at one when its process died and
 * cannot go on. Each is told once, by the write that gives it up.
 * Relies on whoever follows a task to tell it when the run is cut off, and on the record saying so by then.
 * Costs local runs a look-up a record, and a glance at each call of the last step.
 */
export const tellLeftTasks = (
  { resolve, log }: Pick<RuntimeDeps, 'resolve' | 'log'>,
  after: Run,
  before: Run | undefined,
): void => {
  const over = after.status === 'done' && before?.status !== 'done';
  const tasks = over ? openTasksIn(after.state) : [];
  const calls = callsLeft(before?.state, after.state, over);
  if (tasks.length + calls.length === 0) return;
  const { run_id, agent_id, resolution_id } = after;
  let agent: ResolvedAgent;
  try {
    agent = resolve(agent_id, resolution_id);
  } catch (err) {
    log.warn({ err, run_id }, 'a remote task is left behind: its agent is gone');
    return;
  }
  for (const { key, task_id } of tasks) {
    if (agent.remote?.key === key) void agent.remote.cancel(task_id);
  }
  for (const { tool_name, resume_with } of calls) agent.tools.get(tool_name)?.giveUp?.(resume_with);
};
