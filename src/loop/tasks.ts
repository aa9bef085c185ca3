import { backgroundTaskState, backgroundTasks, type TaskState } from '../plugins/background/state.ts';
import type { Message } from '../schema/message.ts';
import { update } from '../tools/state.ts';
import { endReportedBy, taskEvent } from '../tools/task-event.ts';
import type { Tasks } from '../tools/tasks.ts';
import type { TaskRecord } from './background.ts';
import { findStep, traceTask } from './trace.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * The background tasks of a run, from the perspective of the loop (agent-loop.md 16). The tasks themselves live in the
 * process; the state contains the started tasks and their statuses as of the last commit. A task that is running in the
 * state and unknown to the process has died with an earlier process.
 */

/** Returns the task interface for the tool of a call, if its agent has the plugin. */
export const createToolTasks = (turn: Turn, entry: StepCall): Tasks | undefined => {
  const { tasks, agent } = turn;
  if (!tasks || !agent.plugins.some(({ id }) => id === 'background_tasks')) return undefined;
  return {
    start(task) {
      const { last = 0 } = turn.state.view().get(backgroundTasks) ?? {};
      return tasks.start(task, last, { call_id: entry.call.id, step_index: findStep(turn, entry) });
    },
    cancel: tasks.cancel,
  };
};

const PENDING = '__runtime.pending_work';

/**
 * Called after an answer of the model. Returns whether the run must wait; a sub-agent waits here, for the next event.
 */
export const mustWait = async (turn: Turn, signal: AbortSignal): Promise<boolean> => {
  if (!hasPendingWork(turn)) return false;
  if (!turn.tasks?.inPlace) return true;
  await turn.tasks.nextEvent(signal);
  return false;
};

const hasPendingWork = (turn: Turn): boolean => {
  const has_pending = turn.tasks?.pending() ?? false;
  if (has_pending || turn.state.get(PENDING) !== undefined) turn.state.set(PENDING, { has_pending });
  return has_pending;
};

/** Number of ended tasks kept in the state. */
const REMEMBERED = 50;

/** Copies changes of the tasks into the state, for the next commit. */
export const noteTasks = (turn: Turn): void => {
  const changed = turn.tasks?.changed() ?? [];
  if (changed.length === 0) return;
  const view = turn.state.view();
  const { last, tasks } = view.get(backgroundTasks) ?? { last: 0, tasks: {} };
  reportChanges(turn, changed, view.get(backgroundTaskState) ?? {});
  const started = changed.map(({ status: _status, updated_at: _at, error: _error, ...task }) => task);
  const states = { ...view.get(backgroundTaskState), ...Object.fromEntries(changed.map(stateOf)) };
  const all = {
    ...tasks,
    ...Object.fromEntries(started.map((task) => [task.task_id, { ...task, run_id: turn.run_id }])),
  };
  const kept = Object.keys(all).sort((a, b) => numberOf(a) - numberOf(b));
  const ended = kept.filter((id) => states[id]?.status !== 'running');
  const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - REMEMBERED)));
  const remembered = <V>(values: Record<string, V>): Record<string, V> =>
    Object.fromEntries(Object.entries(values).filter(([id]) => !forgotten.has(id)));
  turn.state.apply([
    update(backgroundTasks, { last: Math.max(last, ...kept.map(numberOf)), tasks: remembered(all) }),
    update(backgroundTaskState, remembered(states)),
  ]);
};

/** A task that started and ended since the last commit has changed twice. */
const reportChanges = (
  turn: Turn,
  changed: readonly TaskRecord[],
  before: Readonly<Record<string, TaskState>>,
): void => {
  for (const task of changed) {
    const { status } = task;
    const known = before[task.task_id]?.status;
    if (known === undefined) traceTask(turn, { ...task, status: 'running' });
    if (status === 'running' || status === known) continue;
    traceTask(turn, task);
    turn.observe.tasks.ended(status, (task.updated_at - task.started_at) / 1000);
  }
};

const stateOf = ({ task_id, status, updated_at, error }: TaskRecord): [string, TaskState] => [
  task_id,
  { status, updated_at, ...(error !== undefined && { error }) },
];

const numberOf = (task_id: string): number => Number(task_id.slice('bg_'.length));

const DIED = 'the process ended';

/**
 * Settles the tasks that died with an earlier process. Returns the events for the tasks of this run. `staged` contains
 * pending messages for the history: the end of a task may be among them. Tasks of ended runs are cancelled.
 */
export const settleLostTasks = (
  turn: Turn,
  staged: readonly Message[],
  waits: (run_id: string) => boolean,
): Message[] => {
  const view = turn.state.view();
  const states = view.get(backgroundTaskState);
  if (!states) return [];
  const reported = new Map(
    staged.flatMap((message) => endReportedBy(message) ?? []).map((end) => [end.task_id, end.status]),
  );
  const tasks = view.get(backgroundTasks)?.tasks;
  const events: Message[] = [];
  const settled: Record<string, TaskState> = {};
  for (const [id, { status }] of Object.entries(states)) {
    if (status !== 'running' || turn.tasks?.knows(id)) continue;
    const state = stateOfLost(turn, { owner: tasks?.[id]?.run_id, reported: reported.get(id) }, waits);
    if (!state) continue;
    settled[id] = state;
    if (state.status === 'failed' && state.error !== undefined)
      events.push(taskEvent(turn.ids.uuid(), 'failed', id, { error: state.error }));
  }
  for (const [task_id, state] of Object.entries(settled)) {
    const task = tasks?.[task_id];
    if (task?.run_id === turn.run_id) traceTask(turn, { ...task, ...state });
  }
  if (Object.keys(settled).length > 0)
    turn.state.apply([update(backgroundTaskState, { ...states, ...settled })]);
  return events;
};

type LostTask = {
  /** The run that started it. */
  owner: string | undefined;
  /** The status in a pending message about its end. */
  reported: TaskState['status'] | undefined;
};

/** Undefined for a task of another run that waits, and settles it. */
const stateOfLost = (
  { clock, run_id }: Turn,
  { owner, reported }: LostTask,
  waits: (run_id: string) => boolean,
): TaskState | undefined => {
  const updated_at = clock.now();
  if (reported) return { status: reported, updated_at };
  if (owner === run_id) return { status: 'failed', updated_at, error: DIED };
  return owner === undefined || !waits(owner) ? { status: 'cancelled', updated_at } : undefined;
};
