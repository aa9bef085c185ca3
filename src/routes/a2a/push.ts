import { z } from 'zod';
import { reply } from '../../http/reply.ts';
import type { CardAgents } from '../../protocols/a2a/card-agents.ts';
import { invalidRequest, noPush, pushConfigNotFound, taskNotFound } from '../../protocols/a2a/errors.ts';
import type { Tasks } from '../../protocols/a2a/model.ts';
import { type Push, shownConfig } from '../../protocols/a2a/push/push.ts';
import { selectorOf } from '../../protocols/a2a/selector.ts';
import type { PushConfigRow, PushPlace, Store } from '../../store/index.ts';
import { encodeCursor } from '../cursor.ts';
import type { A2aRequest, InlinePush, PushHandlers } from './handlers.ts';
import { positionIn } from './page-token.ts';

/**
 * Push notification configs of a task (a2a.md 11.1). Below a tenant there are those of the tenant; without one, all of
 * the task can be read and removed.
 */
export type PushRoutes = { handlers: PushHandlers; inline: InlinePush };

export const createPushRoutes = (deps: {
  store: Pick<Store, 'pushConfigs'>;
  push: Pick<Push, 'check' | 'add' | 'remove'>;
  tasks: Pick<Tasks, 'agentOf'>;
  agents: Pick<CardAgents, 'checkTenant'>;
  enabled: boolean;
}): PushRoutes => {
  const { store, push, tasks, agents, enabled } = deps;

  const checkEnabled = (): void => {
    if (!enabled) throw noPush();
  };

  /** The agent of the task. @throws A2aError when there is no such task for this request */
  const agentOf = ({ scope, tenant }: A2aRequest, task_id: string): string => {
    agents.checkTenant(tenant);
    const agent = tasks.agentOf(scope, task_id);
    if (agent === undefined || (tenant !== undefined && tenant !== agent)) throw taskNotFound(task_id);
    return agent;
  };

  const found = ({ scope, tenant }: A2aRequest, task_id: string, id: string): PushConfigRow[] => {
    if (tenant === undefined) return store.pushConfigs.withId(scope, task_id, id);
    const config = store.pushConfigs.get({ scope, task_id, id, tenant });
    return config ? [config] : [];
  };

  const handlers: PushHandlers = {
    async create(request, task_id) {
      checkEnabled();
      const agent = agentOf(request, task_id);
      const selected = selectorOf(request.body);
      const tenant = request.tenant ?? (selected === agent ? selected : undefined);
      const config = push.check(request.body, { task_id, tenant });
      await push.add(request.scope, task_id, tenant, config);
      return config;
    },
    list(request, task_id) {
      checkEnabled();
      const { scope, tenant } = request;
      const page = pageOf(request, task_id);
      agentOf(request, task_id);
      const shown: PushConfigRow[] = [];
      for (const config of store.pushConfigs.list(scope, task_id, page.after)) {
        if (tenant !== undefined && config.tenant !== tenant) continue;
        shown.push(config);
        if (shown.length > page.size) break;
      }
      const last = shown.length > page.size ? shown[page.size - 1] : undefined;
      return {
        configs: shown.slice(0, page.size).map(shownConfig),
        nextPageToken: last ? tokenOf(last, tenant) : '',
      };
    },
    get(request, task_id, config_id) {
      checkEnabled();
      agentOf(request, task_id);
      const configs = found(request, task_id, config_id);
      const config = configs.find(({ tenant }) => tenant === undefined) ?? configs[0];
      if (!config) throw pushConfigNotFound(task_id, config_id);
      return shownConfig(config);
    },
    async remove(request, task_id, config_id) {
      checkEnabled();
      agentOf(request, task_id);
      const configs = found(request, task_id, config_id);
      if (configs.length > 0) await push.remove(configs);
      return reply(204);
    },
  };

  return {
    handlers,
    inline: {
      check(config, enclosing) {
        checkEnabled();
        return push.check(config, enclosing);
      },
      add: push.add,
    },
  };
};

const DEFAULT_SIZE = 50;
const LARGEST_SIZE = 100;

/** @throws A2aError 400 */
const pageOf = (request: A2aRequest, task_id: string): { size: number; after?: PushPlace } => {
  const { scope, tenant } = request;
  const size = request.query('pageSize') ?? '';
  if (!/^\d*$/.test(size)) {
    throw invalidRequest([{ field: 'pageSize', description: 'pageSize must be an unsigned integer' }]);
  }
  const filters = filtersOf(task_id, tenant);
  const last = positionIn(request.query('pageToken'), { prefix: TOKEN, filters, position: Position });
  return {
    size: size === '' ? DEFAULT_SIZE : Math.min(Math.max(Number(size), 1), LARGEST_SIZE),
    ...(last && { after: { scope, task_id, ...last } }),
  };
};

const TOKEN = 'push_';

/** The last config of the page. */
const Position = z.object({ id: z.string(), tenant: z.string().optional() });

/** The task and the tenant whose list it is. */
const filtersOf = (task: string, tenant: string | undefined) => ({ task, tenant: tenant ?? null });

const tokenOf = ({ task_id, id, tenant }: PushPlace, of: string | undefined): string =>
  encodeCursor(TOKEN, { id, ...(tenant !== undefined && { tenant }) }, filtersOf(task_id, of));
