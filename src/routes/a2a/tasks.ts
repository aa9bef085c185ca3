import { z } from 'zod';
import { listReply } from '../../http/list-reply.ts';
import { ownPartition } from '../../identity/access/own.ts';
import { decodeSend } from '../../protocols/a2a/decode.ts';
import type { TaskReceipt } from '../../protocols/a2a/task-admission.ts';
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
import type { Principal } from '../../schema/principal.ts';
import { traceContextOf } from '../../schema/trace-context.ts';
import type { TaskPosition } from '../../store/index.ts';
import { encodeCursor } from '../cursor.ts';
import type { A2aRequest, TaskHandlers } from './handlers.ts';
import { positionIn } from './page-token.ts';

/** The operations on tasks (a2a.md 7, 9, 10). */

export type TaskHandlerDeps = TaskOperationDeps &
  SendDeps & { settings: { a2a_enforce_input_modes: boolean } };

export const createTaskHandlers = (deps: TaskHandlerDeps, sends: Sends): TaskHandlers => {
  const decode = ({ principal, from, body, tenant, header }: A2aRequest) => {
    const enforceInputModes = deps.settings.a2a_enforce_input_modes;
    const sent = decodeSend(body, { tenant, enforceInputModes });
    const { scope, ...ids } = addressed(deps, principal, sent);
    // A config would outlive the right of another user on the thread.
    if (sent.push !== undefined) deps.access.checkSharing(principal, { scope, id: '' });
    return { scope, request: { ...sent, ...ids, principal, from, context: traceContextOf(header) } };
  };

  return {
    async send(request) {
      const { scope, request: sent } = decode(request);
      const keyed = request.keyed?.holds(receiptIn(scope));
      return { task: await sends.send(scope, sent, { hold: request.hold, keyed }) };
    },
    async sendAgain(request, created) {
      const { scope, ...receipt } = Receipt.parse(created);
      return { task: await sends.sendAgain(scope, decode(request).request, receipt, request.hold) };
    },
    streamAgain(request, created) {
      const { scope, ...receipt } = Receipt.parse(created);
      return sends.streamAgain(scope, decode(request).request, receipt);
    },
    async stream(request) {
      const { scope, request: sent } = decode(request);
      return sends.stream(scope, sent, request.keyed?.creates(receiptIn(scope)));
    },
    get: (request, task_id) => readTask(deps, request, task_id, decodeHistoryLength(request.query)),
    list(request) {
      const query = decodeTaskQuery(request.query);
      const filter = createFilter(query, request.tenant);
      const after = positionIn(query.page_token, { prefix: TOKEN, filters: filter, position: Position });
      const { texts, total, next } = listTasks(deps, request, { filter, query, after });
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

/** The stored part of an accepted message with a key. */
const Receipt = z.object({
  scope: z.string(),
  task_id: z.string(),
  message_id: z.string(),
  accepted_at: z.number(),
});

const receiptIn =
  (scope: string) =>
  ({ task_id, message_id, accepted_at }: TaskReceipt) => ({ scope, task_id, message_id, accepted_at });

/** Returns the partition of the task, or else of the context, that the message is for. */
const addressed = (
  { access, tasks }: Pick<TaskHandlerDeps, 'access' | 'tasks'>,
  principal: Principal,
  { task_id, context_id }: { task_id?: string | undefined; context_id?: string | undefined },
): { scope: string; context_id?: string } => {
  const task = task_id === undefined ? undefined : access.run(principal, task_id, 'write');
  const context = context_id === undefined ? undefined : access.thread(principal, context_id, 'write');
  const isKnown = task !== undefined && tasks.find(task.scope, task.id) !== undefined;
  // A new task, whose id the client may have chosen, belongs to its context.
  const scope = (isKnown ? task.scope : context?.scope) ?? ownPartition(principal);
  return { scope, ...(context?.scope === scope && { context_id: context.id }) };
};

const TOKEN = 'task_';

const Position: z.ZodType<TaskPosition> = z.object({ at: z.int(), id: z.string() });
