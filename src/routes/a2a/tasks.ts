import { z } from 'zod';
import { listReply } from '../../http/list-reply.ts';
import { decodeSend } from '../../protocols/a2a/decode.ts';
import {
  cancelTask,
  createFilter,
  listTasks,
  readTask,
  subscribeToTask,
  type TaskOperationDeps,
} from '../../protocols/a2a/task-operations.ts';
import { decodeHistoryLength, decodeTaskQuery } from '../../protocols/a2a/task-query.ts';
import type { SendDeps, Sends } from '../../protocols/a2a/task-send.ts';
import { traceContextOf } from '../../schema/trace-context.ts';
import type { TaskPosition } from '../../store/index.ts';
import { encodeCursor } from '../cursor.ts';
import type { A2aRequest, TaskHandlers } from './handlers.ts';
import { positionIn } from './page-token.ts';

/** The operations on tasks (a2a.md 7, 9, 10). */

export type TaskHandlerDeps = TaskOperationDeps &
  SendDeps & { settings: { a2a_enforce_input_modes: boolean } };

export const createTaskHandlers = (deps: TaskHandlerDeps, sends: Sends): TaskHandlers => {
  const decode = ({ body, tenant, header }: A2aRequest) => ({
    ...decodeSend(body, { tenant, enforceInputModes: deps.settings.a2a_enforce_input_modes }),
    context: traceContextOf(header),
  });

  return {
    async send(request) {
      const task = await sends.send(request.scope, decode(request), request.hold);
      return { task };
    },
    stream: async (request) => sends.stream(request.scope, decode(request)),
    get: (request, task_id) => readTask(deps, request, task_id, decodeHistoryLength(request.query)),
    list(request) {
      const query = decodeTaskQuery(request.query);
      const filter = createFilter(query, request.tenant);
      const after = positionIn(query.page_token, { prefix: TOKEN, filters: filter, position: Position });
      const { texts, total, next } = listTasks(
        deps,
        { lists: request.scope, tenant: request.tenant },
        { filter, query, after },
      );
      return listReply('tasks', texts, {
        totalSize: total,
        pageSize: query.page_size,
        nextPageToken: next ? encodeCursor(TOKEN, next, filter) : '',
      });
    },
    cancel: (request, task_id) => cancelTask(deps, request, task_id),
    subscribe: (request, task_id) => subscribeToTask(deps, request, task_id),
  };
};

const TOKEN = 'task_';

const Position: z.ZodType<TaskPosition> = z.object({ at: z.int(), id: z.string() });
