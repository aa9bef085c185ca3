import { TASK_STATES, type TaskState } from '../../machines/a2a-task.ts';
import type { Run } from './run.ts';
import { type RunRecord, taggedWith } from './run-state.ts';

/** The state of a run as an A2A task (a2a.md 8.1), for runs of any protocol: a tag of the state of the run machine. */

export type { TaskState };

const STATE = taggedWith<TaskState>(TASK_STATES);

export const taskStateOf = ({ machine_state }: Pick<RunRecord, 'machine_state'>): TaskState =>
  STATE[machine_state] ?? 'TASK_STATE_WORKING';

/** The agent named by the request, or chosen for it; another one may have taken over since. */
export const taskAgentOf = (run: Run): string => run.activation?.intent.agent_id ?? run.agent_id;

/** The state of every running run. */
export const STATE_OF_RUNNING: TaskState = 'TASK_STATE_WORKING';
