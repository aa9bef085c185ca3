import { isTerminal, mayTake, type TaskState } from '../../../machines/a2a-task.ts';
import type { EventStream } from '../../http/sse.ts';
import type { Runtime } from '../../runtime/index.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { Place } from '../../schema/place.ts';
import { taskStateOf } from '../../schema/task-state.ts';
import type { Store, TaskFilter, TaskPosition, TimedRun } from '../../store/index.ts';
import { type AccessDeps, type Asker, type FoundTask, taskFor } from './access.ts';
import { notCancelable, unsupportedOperation } from './errors.ts';
import type { Task } from './model.ts';
import { createTaskStream } from './stream.ts';
import type { TaskQuery } from './task-query.ts';
import type { TaskService } from './tasks.ts';

/** Operations on existing tasks (a2a.md 9, 10.2). The machine of the task decides which of them are allowed. */

export type TaskOperationDeps = AccessDeps & {
  store: Pick<Store, 'tasks'>;
  runtime: Pick<Runtime, 'cancelRun'>;
  tasks: TaskService;
};

/** `texts` is the JSON of each task. */
type TaskPage = { texts: string[]; total: number; next: TaskPosition | undefined };

/** @param history number of latest messages; undefined for all @throws A2aError 404 */
export const readTask = (deps: TaskOperationDeps, asker: Asker, task_id: string, history?: number): Task =>
  taskIn(deps, taskFor(deps, asker, task_id, 'read'), history);

const taskIn = ({ tasks }: TaskOperationDeps, found: FoundTask, history?: number): Task =>
  tasks.projection.task(found.scope, found, { history, artifacts: true });

/** @throws A2aError 404 */
export const listTasks = (
  { store, access, tasks, agents }: TaskOperationDeps,
  { principal, tenant }: Asker,
  { filter, query, after }: { filter: TaskFilter; query: TaskQuery; after: TaskPosition | undefined },
): TaskPage => {
  agents.checkTenant(tenant);
  const thread =
    filter.thread_id === undefined ? undefined : access.thread(principal, filter.thread_id, 'read');
  const lists = thread?.scope ?? access.lists(principal);
  const within = thread ? { ...filter, thread_id: thread.id } : filter;
  const page = store.tasks.list(lists, within, { limit: query.page_size, ...(after && { after }) });
  const shown = { history: query.history_length, artifacts: query.artifacts };
  const { rows, texts, more } = fillPage(foundIn(tasks, page.places), query.page_size, ({ scope, found }) =>
    tasks.projection.task(scope, found, shown),
  );
  const last = more ? rows.at(-1) : undefined;
  const own = typeof lists === 'string' ? lists : lists[0];
  const next = last
    ? {
        at: last.found.changed_at,
        id: last.found.run.run_id,
        ...(last.scope !== own && { within: last.scope }),
      }
    : page.next;
  return { texts, total: page.total, next };
};

type ListedTask = { scope: string; found: TimedRun };

function* foundIn(tasks: TaskService, places: readonly Place[]): Iterable<ListedTask> {
  for (const { scope, id } of places) {
    const found = tasks.find(scope, id);
    if (found) yield { scope, found };
  }
}

export const createFilter = (
  { context_id, state, since }: TaskQuery,
  tenant: string | undefined,
): TaskFilter => ({
  ...(context_id !== undefined && { thread_id: context_id }),
  ...(tenant !== undefined && { agent_id: tenant }),
  ...(state !== undefined && { state }),
  ...(since !== undefined && { since }),
});

/** Requests the run to stop and resolves with the resulting task. @throws A2aError 404, 409 */
export const cancelTask = async (deps: TaskOperationDeps, asker: Asker, task_id: string): Promise<Task> => {
  const { run, scope } = taskFor(deps, asker, task_id, 'write');
  checkCancelable(task_id, taskStateOf(run));
  const reached = await deps.runtime.cancelRun(scope, run.thread_id, task_id);
  if (!reached) checkCancelable(task_id, taskStateOf(taskFor(deps, asker, task_id, 'read').run));
  return readTask(deps, asker, task_id);
};

const checkCancelable = (task_id: string, state: TaskState): void => {
  if (!mayTake(state, 'CANCEL')) throw notCancelable(task_id, state);
};

/** Streams the task with its content so far, then its events until it is over. @throws A2aError 400, 404 */
export const subscribeToTask = (deps: TaskOperationDeps, asker: Asker, task_id: string): EventStream => {
  const { tasks } = deps;
  const found = taskFor(deps, asker, task_id, 'read');
  const state = taskStateOf(found.run);
  if (isTerminal(state)) throw overAlready(task_id, state);
  const { follower, open } = createTaskStream(isTerminal);
  const following = tasks.follow(found.scope, task_id, follower);
  const sent = following.artifact();
  const task = taskIn(deps, found);
  const thread = { scope: found.scope, id: found.run.thread_id };
  const reading = deps.access.reading('thread', thread, 'read');
  const stream = open({ ...task, ...(sent && { artifacts: [sent] }) }, reading);
  stream.onClose(following.stop);
  return stream;
};

const overAlready = (taskId: string, state: TaskState) =>
  unsupportedOperation(`task ${taskId} is already in terminal state ${state}; subscribe is not available`, {
    taskId,
    state,
  });
