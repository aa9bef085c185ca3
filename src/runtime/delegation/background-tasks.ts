import type { RunTasks } from '../../loop/background.ts';
import {
  cancelTasks,
  createTaskList,
  endTasks,
  isPending,
  nextEvent,
  noSuchTask,
  startTask,
  type TaskDeps,
  type TaskList,
} from './task-list.ts';

/**
 * The background tasks of this process, by run. They outlive the execution that started them, and the actor of its
 * thread; they end with their run, or with the process.
 *
 * Cost: a run without tasks has no entry.
 */

export type TaskBoard = {
  of(run: TaskOwner): RunTasks;
  endRun(scope: string, run_id: string): void;
  /** Whether a task of a run of the thread is not over, or its end was not delivered yet. */
  isBusy(scope: string, thread_id: string): boolean;
  stop(): void;
};

type TaskOwner = { scope: string; thread_id: string; run_id: string; inPlace: boolean };

type Lists = Map<string, TaskList>;

export function createTaskBoard(deps: TaskDeps): TaskBoard {
  const lists: Lists = new Map();
  return {
    of: (run) => createRunTasks(deps, lists, run),
    endRun(scope, run_id) {
      const key = keyOf(scope, run_id);
      const list = lists.get(key);
      if (!list) return;
      endTasks(deps, list);
      lists.delete(key);
    },
    isBusy: (scope, thread_id) =>
      Array.from(lists.values()).some(
        (list) => list.scope === scope && list.thread_id === thread_id && isPending(list),
      ),
    stop() {
      for (const list of lists.values()) endTasks(deps, list);
    },
  };
}

/** The tasks of a run, as its executions use them; a list is created with the first task. */
function createRunTasks(deps: TaskDeps, lists: Lists, { inPlace, ...run }: TaskOwner): RunTasks {
  const key = keyOf(run.scope, run.run_id);
  let reported = 0;
  return {
    inPlace,
    start(input, last, origin) {
      const list = lists.get(key) ?? createTaskList(run);
      lists.set(key, list);
      return startTask(deps, list, { input, last, origin });
    },
    cancel(target) {
      const list = lists.get(key);
      return list ? cancelTasks(deps, list, target) : { error: noSuchTask(target, []) };
    },
    pending: () => isPending(lists.get(key)),
    changed() {
      const list = lists.get(key);
      if (!list || list.version === reported) return [];
      reported = list.version;
      return Array.from(list.tasks.values(), ({ record }) => record);
    },
    knows: (task_id) => lists.get(key)?.tasks.has(task_id) ?? false,
    nextEvent: (signal) => nextEvent(lists.get(key), signal),
    end() {
      const list = lists.get(key);
      if (list) endTasks(deps, list);
    },
  };
}

function keyOf(scope: string, run_id: string): string {
  return `${scope}\0${run_id}`;
}
