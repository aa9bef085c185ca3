import type { TaskStateTag } from '../../machines/run.ts';
import type { Run } from './run.ts';
import { restStateOf, taggedWith } from './run-state.ts';

/** What a run is as an A2A task (a2a.md 8.1), whatever made it: the run machine says so of the state that it is in. */

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const satisfies readonly TaskStateTag[];
export type TaskState = TaskStateTag;

const STATE = taggedWith<TaskState>(TASK_STATES);

export const taskStateOf = (run: Run): TaskState => STATE[restStateOf(run)] ?? 'TASK_STATE_WORKING';

/** The agent that the request named, or that was chosen for it; another one may have taken over since. */
export const taskAgentOf = (run: Run): string => run.activation?.intent.agent_id ?? run.agent_id;

const TERMINAL: readonly TaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

/** Nothing will ever change it again. */
export const isTerminal = (state: TaskState): boolean => TERMINAL.includes(state);

/** It goes on when somebody answers. */
export const isInterrupted = (state: TaskState): boolean =>
  state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
