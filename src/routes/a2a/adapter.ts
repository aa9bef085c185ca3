import { isPublicAddress, resolveName } from '../../a2a/public-address.ts';
import type { Mount } from '../../http/mount.ts';
import { createCardAgents } from '../../protocols/a2a/card-agents.ts';
import type { DeliveryDeps } from '../../protocols/a2a/push/delivery.ts';
import { createPost } from '../../protocols/a2a/push/post.ts';
import { createPush } from '../../protocols/a2a/push/push.ts';
import { type CardSettings, createCards } from './cards.ts';
import { a2aRoutes } from './index.ts';
import { createPushRoutes } from './push.ts';
import { createTaskHandlers, type TaskHandlerDeps } from './tasks.ts';

/** This service as an A2A server: its routes, and the notifications that it sends. */
export type A2aAdapter = {
  mounts: readonly Mount[];
  /** Notifications that an earlier process has left go on. */
  start(): void;
  /** Nothing is sent any more. */
  stop(): void;
};

type AdapterDeps = Omit<TaskHandlerDeps, 'agents' | 'push' | 'settings'> &
  Pick<DeliveryDeps, 'log' | 'actors'> & {
    version: string;
    /** Agents that are live; another object after each publication. */
    published(): { ids: readonly string[]; published_at: number };
    settings: TaskHandlerDeps['settings'] &
      CardSettings & { default_agent_id: string; a2a_push_block_private_hosts: boolean };
  };

export const createA2aAdapter = (deps: AdapterDeps): A2aAdapter => {
  const { store, tasks, resolve, settings } = deps;
  const agents = createCardAgents({ ...deps, resolve, defaultId: settings.default_agent_id });
  const guard = settings.a2a_push_block_private_hosts
    ? { resolve: resolveName, mayConnect: isPublicAddress }
    : undefined;
  const enabled = settings.a2a_push_enabled;
  const push = createPush({ ...deps, post: createPost({ guard }) });
  const { handlers, inline } = createPushRoutes({ store, push, tasks, agents, enabled });
  return {
    mounts: a2aRoutes({
      tasks: createTaskHandlers({ ...deps, agents, push: inline }),
      push: handlers,
      cards: createCards({ ...deps, agents }),
    }),
    start() {
      if (enabled) push.start();
    },
    stop: push.stop,
  };
};
