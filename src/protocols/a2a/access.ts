import type { Access } from '../../identity/access/access.ts';
import type { Principal } from '../../schema/principal.ts';
import { taskAgentOf } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { CardAgents } from './card-agents.ts';
import { taskNotFound } from './errors.ts';
import type { Tasks } from './model.ts';

/**
 * The caller of an operation. A tenant has access to the tasks of its agent only (a2a.md 9), from their acceptance on.
 */
export type Asker = {
  principal: Principal;
  /** Not resolved yet; undefined grants access to all tasks of the scope. */
  tenant: string | undefined;
};

export type AccessDeps = {
  access: Pick<Access, 'run' | 'lists' | 'thread' | 'checkSharing' | 'reading'>;
  tasks: Pick<Tasks, 'find'>;
  agents: Pick<CardAgents, 'checkTenant'>;
};

/** A task that the caller may use, and its partition. */
export type FoundTask = TimedRun & { scope: string };

/** @throws A2aError 404 */
export const taskFor = (
  { access, tasks, agents }: AccessDeps,
  { principal, tenant }: Asker,
  task_id: string,
  right: 'read' | 'write',
): FoundTask => {
  agents.checkTenant(tenant);
  const { scope, id } = access.run(principal, task_id, right);
  const found = tasks.find(scope, id);
  if (!found || (tenant !== undefined && tenant !== taskAgentOf(found.run))) throw taskNotFound(task_id);
  return { ...found, scope };
};
