import type { Run } from './run.ts';

/**
 * What a run is as an A2A task (a2a.md 8.1). A state is read off the run record alone, so that every run has one,
 * whatever made it. A task that waits for its own background work is at work; one that was answered and waits for
 * its turn is queued again.
 */

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const taskStateOf = (run: Run): TaskState => {
  switch (run.status) {
    case 'created':
      return 'TASK_STATE_SUBMITTED';
    case 'running':
      return 'TASK_STATE_WORKING';
    case 'waiting':
      return stateOfWait(run);
    case 'done':
      return stateOfEnd(run);
  }
};

const stateOfWait = ({ waiting, activation }: Run): TaskState => {
  if (waiting?.reason === 'background_tasks') return 'TASK_STATE_WORKING';
  // Only an execution has a session: whatever ends this wait is queued.
  if (activation && activation.trace.session_id === undefined) return 'TASK_STATE_SUBMITTED';
  return waiting?.reason === 'tool_permission' ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED';
};

const stateOfEnd = ({ termination_reason }: Run): TaskState => {
  switch (termination_reason?.type) {
    case 'cancelled':
      return 'TASK_STATE_CANCELED';
    case 'blocked':
      return 'TASK_STATE_REJECTED';
    case 'error':
      return 'TASK_STATE_FAILED';
    default:
      return 'TASK_STATE_COMPLETED';
  }
};

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
