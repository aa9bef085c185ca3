import { z } from 'zod';
import { reply } from '../../http/reply.ts';
import { invalidRequest } from '../../protocols/a2a/errors.ts';
import type { PushConfig } from '../../protocols/a2a/push/config.ts';
import {
  addConfig,
  createdConfig,
  listConfigs,
  type PushConfigDeps,
  readConfig,
  removeConfig,
} from '../../protocols/a2a/push/configs.ts';
import type { PushPlace } from '../../store/index.ts';
import { encodeCursor } from '../cursor.ts';
import type { A2aRequest, PushHandlers } from './handlers.ts';
import { positionIn } from './page-token.ts';

/** Push notification configs of a task (a2a.md 11.1). */

export const createPushHandlers = (deps: PushConfigDeps): PushHandlers => ({
  create(request, task_id) {
    const keyed = request.keyed?.creates(({ taskId, id, tenant }: PushConfig) => ({
      task_id: taskId,
      id,
      ...(tenant !== undefined && { tenant }),
    }));
    return addConfig(deps, request, task_id, { body: request.body, keyed });
  },
  createAgain: (request, created) => createdConfig(deps, request, CreatedConfig.parse(created)),
  list(request, task_id) {
    const { configs, next } = listConfigs(deps, request, task_id, pageOf(request, task_id));
    return { configs, nextPageToken: next ? tokenOf(next, request.tenant) : '' };
  },
  get: (request, task_id, config_id) => readConfig(deps, request, task_id, config_id),
  async remove(request, task_id, config_id) {
    await removeConfig(deps, request, task_id, config_id);
    return nothingFor(request);
  },
});

/**
 * The protocol responds with an empty message, which is `{}` in JSON, and the project's own clients parse it. Clients
 * that send no protocol version receive no body.
 */
const nothingFor = ({ header }: A2aRequest) => (header('a2a-version')?.trim() ? reply(200, {}) : reply(204));

/** The stored part of a config that was created with a key: the row of the config has its secrets. */
const CreatedConfig = z.object({ task_id: z.string(), id: z.string(), tenant: z.string().optional() });

const DEFAULT_SIZE = 50;
const LARGEST_SIZE = 100;

/** @throws A2aError 400 */
const pageOf = (request: A2aRequest, task_id: string): { size: number; after: PushPlace | undefined } => {
  const { scope, tenant } = request;
  const size = request.query('pageSize') ?? '';
  if (!/^\d*$/.test(size)) {
    throw invalidRequest([{ field: 'pageSize', description: 'pageSize must be an unsigned integer' }]);
  }
  const filters = filtersOf(task_id, tenant);
  const last = positionIn(request.query('pageToken'), { prefix: TOKEN, filters, position: Position });
  return {
    size: size === '' ? DEFAULT_SIZE : Math.min(Math.max(Number(size), 1), LARGEST_SIZE),
    after: last && { scope, task_id, ...last },
  };
};

const TOKEN = 'push_';

/** Position of the last config of the page. */
const Position = z.object({ id: z.string(), tenant: z.string().optional() });

/** The task and tenant that the list belongs to. */
const filtersOf = (task: string, tenant: string | undefined) => ({ task, tenant: tenant ?? null });

const tokenOf = ({ task_id, id, tenant }: PushPlace, of: string | undefined): string =>
  encodeCursor(TOKEN, { id, ...(tenant !== undefined && { tenant }) }, filtersOf(task_id, of));
