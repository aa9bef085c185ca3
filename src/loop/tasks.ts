import { backgroundTaskState, backgroundTasks, type TaskState } from '../plugins/background/state.ts';
import type { Message } from '../schema/message.ts';
import { update } from '../tools/state.ts';
import { endToldBy, taskEvent } from '../tools/task-event.ts';
import type { Tasks } from '../tools/tasks.ts';
import type { TaskRecord } from './background.ts';
import { stepOf, traceTask } from './trace.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * The background tasks of a run, as the loop sees them (agent-loop.md 16). The tasks themselves live in the process;
 * the state says which were started and what became of them, as of the last commit. A task that the state knows
 * to be at work and the process does not know has died with an earlier process.
 */

/** For the tool of a call, when its agent has the plugin. */
export const tasksOf = (turn: Turn, entry: StepCall): Tasks | undefined => {
  const { tasks, agent } = turn;
  if (!tasks || !agent.plugins.some(({ id }) => id === 'background_tasks')) return undefined;
  return {
    start(task) {
      const { last = 0 } = turn.state.view().get(backgroundTasks) ?? {};
      return tasks.start(task, last, { call_id: entry.call.id, step_index: stepOf(turn, entry) });
    },
    cancel: tasks.cancel,
  };
};

const PENDING = '__runtime.pending_work';

/** Asked when the model has answered: must the run wait? A sub-agent waits here, for the next thing that it is told. */
export const mustWait = async (turn: Turn, signal: AbortSignal): Promise<boolean> => {
  if (!hasPendingWork(turn)) return false;
  if (!turn.tasks?.inPlace) return true;
  await turn.tasks.told(signal);
  return false;
};

const hasPendingWork = (turn: Turn): boolean => {
  const has_pending = turn.tasks?.pending() ?? false;
  if (has_pending || turn.state.get(PENDING) !== undefined) turn.state.set(PENDING, { has_pending });
  return has_pending;
};

/** Ended tasks that the state remembers. */
const REMEMBERED = 50;

/** Takes what happened to the tasks into the state, for the next commit. */
export const noteTasks = (turn: Turn): void => {
  const changed = turn.tasks?.changed() ?? [];
  if (changed.length === 0) return;
  const view = turn.state.view();
  const { last, tasks } = view.get(backgroundTasks) ?? { last: 0, tasks: {} };
  tellChanges(turn, changed, view.get(backgroundTaskState) ?? {});
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

/** A task that has begun and ended since the last commit has changed twice. */
const tellChanges = (
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
 * Settles the tasks that died with an earlier process. Returns what the run is to be told of its own. `staged` is
 * what waits to join the history: the end of a task may be among it. Tasks of runs that are over are forgotten.
 */
export const settleLostTasks = (
  turn: Turn,
  staged: readonly Message[],
  waits: (run_id: string) => boolean,
): Message[] => {
  const view = turn.state.view();
  const states = view.get(backgroundTaskState);
  if (!states) return [];
  const told = new Map(
    staged.flatMap((message) => endToldBy(message) ?? []).map((end) => [end.task_id, end.status]),
  );
  const events: Message[] = [];
  const settled: Record<string, TaskState> = {};
  const updated_at = turn.clock.now();
  for (const [id, { status }] of Object.entries(states)) {
    if (status !== 'running' || turn.tasks?.knows(id)) continue;
    const owner = view.get(backgroundTasks)?.tasks[id]?.run_id;
    const end = told.get(id);
    if (end) settled[id] = { status: end, updated_at };
    else if (owner === turn.run_id) {
      settled[id] = { status: 'failed', updated_at, error: DIED };
      events.push(taskEvent(turn.ids.uuid(), 'failed', id, { error: DIED }));
    } else if (owner === undefined || !waits(owner)) settled[id] = { status: 'cancelled', updated_at };
  }
  for (const [task_id, state] of Object.entries(settled)) {
    const task = view.get(backgroundTasks)?.tasks[task_id];
    if (task?.run_id === turn.run_id) traceTask(turn, { ...task, ...state });
  }
  if (Object.keys(settled).length > 0)
    turn.state.apply([update(backgroundTaskState, { ...states, ...settled })]);
  return events;
};
