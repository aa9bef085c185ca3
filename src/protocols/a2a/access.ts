import { taskAgentOf } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { CardAgents } from './card-agents.ts';
import { taskNotFound } from './errors.ts';
import type { Tasks } from './model.ts';

/** Who asks: a tenant sees the tasks of its agent and no others (a2a.md 9), from the moment of their acceptance. */
export type Asker = {
  scope: string;
  /** Not looked up yet; undefined sees all of the scope. */
  tenant: string | undefined;
};

export type AccessDeps = { tasks: Pick<Tasks, 'find'>; agents: Pick<CardAgents, 'checkTenant'> };

/** @throws A2aError 404 */
export const taskFor = (
  { tasks, agents }: AccessDeps,
  { scope, tenant }: Asker,
  task_id: string,
): TimedRun => {
  agents.checkTenant(tenant);
  const found = tasks.find(scope, task_id);
  if (!found || (tenant !== undefined && tenant !== taskAgentOf(found.run))) throw taskNotFound(task_id);
  return found;
};
