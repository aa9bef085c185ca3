import { isTerminal, mayTake } from '../../../machines/a2a-task.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import { type A2aError, invalidRequest, taskNotFound, unsupportedOperation } from './errors.ts';

/**
 * Decides which task a message belongs to (a2a.md 7.3, 7.4). Pure: callers must decide and act in one event-loop tick,
 * so that the thread cannot change in between.
 */

type Named = { agent_id: string | undefined; context_id: string | undefined };

/** Checks whether a task may continue with a message. @throws A2aError 400, 404 */
export const checkContinuation = (
  run: RunRecord,
  { agent_id, context_id }: Named,
  /** Whether the run executes, which includes the time in which its suspension is being written. */
  executes: boolean,
): void => {
  const { run_id } = run;
  if (agent_id !== undefined && agent_id !== taskAgentOf(run)) throw taskNotFound(run_id);
  if (context_id !== undefined && context_id !== run.thread_id) {
    throw refused('message.contextId', "contextId must match the task's thread context");
  }
  const state = taskStateOf(run);
  if (isTerminal(state)) {
    throw unsupportedOperation(
      `task ${run_id} is in terminal state ${state} and accepts no further messages`,
      { taskId: run_id, state },
    );
  }
  if (state === 'TASK_STATE_SUBMITTED') {
    throw refused(
      'message.taskId',
      'taskId refers to an in-flight task; wait for completion or use contextId for a new task',
    );
  }
  if (executes || !mayTake(state, 'ANSWER')) {
    throw refused(
      'message.taskId',
      'taskId must reference an interrupted task; use contextId to start a new task in the same context',
    );
  }
};

const refused = (field: string, description: string): A2aError => invalidRequest([{ field, description }]);

export type ClientTaskIds = 'with_context' | 'always' | 'never';

/** Checks whether the client may name a task that does not exist. @throws A2aError 404 */
export const checkClientTaskId = (
  task_id: string | undefined,
  context_id: string | undefined,
  allowed: ClientTaskIds,
): void => {
  if (task_id === undefined || allowed === 'always') return;
  if (allowed === 'never' || context_id === undefined) throw taskNotFound(task_id);
};

/** Returns the agent of a new task: the named one, that of the thread, or the public one. @throws A2aError 400 */
export const agentFor = (thread: {
  named: string | undefined;
  last: string | undefined;
  /** Whether the thread has any content. */
  used: boolean;
  publicAgent: string | undefined;
}): string | undefined => {
  const known = thread.named ?? thread.last;
  if (known !== undefined) return known;
  if (thread.used) {
    throw refused(
      'agent',
      'thread has prior context but no identifiable agent binding; specify the agent via tenant path or body agent_id',
    );
  }
  return thread.publicAgent;
};
