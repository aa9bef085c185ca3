import { taskAgentOf } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { CardAgents } from './card-agents.ts';
import { taskNotFound } from './errors.ts';
import type { Tasks } from './model.ts';

/**
 * The caller of an operation. A tenant has access to the tasks of its agent only (a2a.md 9), from their acceptance on.
 */
export type Asker = {
  scope: string;
  /** Not resolved yet; undefined grants access to all tasks of the scope. */
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
