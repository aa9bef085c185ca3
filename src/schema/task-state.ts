import { TASK_STATES, type TaskState } from '../../machines/a2a-task.ts';
import type { Run } from './run.ts';
import { restStateOf, taggedWith } from './run-state.ts';

/** What a run is as an A2A task (a2a.md 8.1), whatever made it: the run machine says so of the state that it is in. */

export type { TaskState };

const STATE = taggedWith<TaskState>(TASK_STATES);

export const taskStateOf = (run: Run): TaskState => STATE[restStateOf(run)] ?? 'TASK_STATE_WORKING';

/** The agent that the request named, or that was chosen for it; another one may have taken over since. */
export const taskAgentOf = (run: Run): string => run.activation?.intent.agent_id ?? run.agent_id;
