import { z } from 'zod';
import type { CardAgents } from '../../protocols/a2a/card-agents.ts';
import { notCancelable, taskNotFound, unsupportedOperation } from '../../protocols/a2a/errors.ts';
import type { Task } from '../../protocols/a2a/model.ts';
import { createTaskStream } from '../../protocols/a2a/stream.ts';
import { decodeHistoryLength, decodeTaskQuery, type TaskQuery } from '../../protocols/a2a/task-query.ts';
import type { TaskRoom } from '../../protocols/a2a/tasks.ts';
import { isTerminal, taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import type { TaskFilter, TaskPosition, TimedRun } from '../../store/index.ts';
import { encodeCursor } from '../cursor.ts';
import type { Rooms } from '../rooms.ts';
import type { A2aRequest, TaskHandlers } from './handlers.ts';
import { positionIn } from './page-token.ts';
import { createSendHandlers, type SendDeps } from './task-send.ts';

/** The operations on tasks (a2a.md 7, 9, 10). A tenant sees the tasks of its agent and no others. */

export type TaskHandlerDeps = SendDeps & {
  runtime: Pick<Rooms['runtime'], 'cancelRun'>;
  tasks: TaskRoom;
  agents: Pick<CardAgents, 'checkTenant' | 'publicAgent'>;
};

export const createTaskHandlers = (deps: TaskHandlerDeps): TaskHandlers => {
  const { store, runtime, tasks, agents } = deps;
  const { projection } = tasks;

  /** @throws A2aError 404 */
  const owned = ({ scope, tenant }: A2aRequest, task_id: string): TimedRun => {
    agents.checkTenant(tenant);
    const found = projection.find(scope, task_id);
    if (!found || (tenant !== undefined && tenant !== taskAgentOf(found.run))) throw taskNotFound(task_id);
    return found;
  };

  const whole = (scope: string, found: TimedRun, history?: number): Task =>
    projection.task(scope, found, { history, artifacts: true });

  return {
    ...createSendHandlers(deps),
    get(request, task_id) {
      const history = decodeHistoryLength(request.query);
      return whole(request.scope, owned(request, task_id), history);
    },
    list(request) {
      const { scope, tenant } = request;
      const query = decodeTaskQuery(request.query);
      agents.checkTenant(tenant);
      const filter = filterOf(query, tenant);
      const after = positionIn(query.page_token, { prefix: TOKEN, filters: filter, position: Position });
      const page = store.tasks.list(scope, filter, { limit: query.page_size, ...(after && { after }) });
      const shown = { history: query.history_length, artifacts: query.artifacts };
      return {
        tasks: page.ids.flatMap((id) => {
          const found = projection.find(scope, id);
          return found ? [projection.task(scope, found, shown)] : [];
        }),
        totalSize: page.total,
        pageSize: query.page_size,
        nextPageToken: page.next ? encodeCursor(TOKEN, page.next, filter) : '',
      };
    },
    async cancel(request, task_id) {
      const { scope } = request;
      const { run } = owned(request, task_id);
      refuseTerminal(run.run_id, taskStateOf(run));
      const reached = await runtime.cancelRun(scope, run.thread_id, task_id);
      const after = owned(request, task_id);
      if (!reached) refuseTerminal(task_id, taskStateOf(after.run));
      return whole(scope, after);
    },
    subscribe(request, task_id) {
      const { scope } = request;
      const found = owned(request, task_id);
      const state = taskStateOf(found.run);
      if (isTerminal(state)) throw overAlready(task_id, state);
      const { stream, follower, open } = createTaskStream(isTerminal);
      const following = tasks.follow(scope, task_id, follower);
      stream.onClose(following.stop);
      const said = following.artifact();
      open({ ...whole(scope, found), ...(said && { artifacts: [said] }) });
      return stream;
    },
  };
};

type State = ReturnType<typeof taskStateOf>;

const refuseTerminal = (task_id: string, state: State): void => {
  if (isTerminal(state)) throw notCancelable(task_id, state);
};

const overAlready = (taskId: string, state: State) =>
  unsupportedOperation(`task ${taskId} is already in terminal state ${state}; subscribe is not available`, {
    taskId,
    state,
  });

const filterOf = ({ context_id, state, since }: TaskQuery, tenant: string | undefined): TaskFilter => ({
  ...(context_id !== undefined && { thread_id: context_id }),
  ...(tenant !== undefined && { agent_id: tenant }),
  ...(state !== undefined && { state }),
  ...(since !== undefined && { since }),
});

const TOKEN = 'task_';

const Position: z.ZodType<TaskPosition> = z.object({ at: z.int(), id: z.string() });
