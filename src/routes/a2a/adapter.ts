import type { Family } from '../../http/family.ts';
import type { Access } from '../../identity/access/access.ts';
import type { Makers } from '../../identity/makers.ts';
import { isPublicAddress, resolveName } from '../../outbound/public-address.ts';
import { createCardAgents } from '../../protocols/a2a/card-agents.ts';
import type { DeliveryDeps, JudgeMaker } from '../../protocols/a2a/push/delivery.ts';
import { createPost, type PostGuard } from '../../protocols/a2a/push/post.ts';
import { createPush } from '../../protocols/a2a/push/push.ts';
import { createSends } from '../../protocols/a2a/task-send.ts';
import type { Runtime } from '../../runtime/index.ts';
import { isLoopback } from '../../schema/loopback.ts';
import type { Store } from '../../store/index.ts';
import { type CardSettings, createCards } from './cards.ts';
import { a2aRoutes } from './index.ts';
import { createPushHandlers } from './push.ts';
import { createTaskHandlers, type TaskHandlerDeps } from './tasks.ts';

/** Exposes the service as an A2A server, with its routes and push notifications. */
export type A2aAdapter = {
  families: readonly Family[];
  /** Resumes the deliveries of an earlier process. */
  start(): void;
  /** Responds to waiting sends and stops the deliveries. */
  stop(): void;
};

type AdapterDeps = Omit<TaskHandlerDeps, 'agents' | 'push' | 'settings' | 'store'> &
  Pick<DeliveryDeps, 'log' | 'actors'> & {
    store: Store;
    runtime: Pick<Runtime, 'threads'>;
    makers: Makers;
    access: Pick<Access, 'mayOutlive'>;
    version: string;
    /** The address that the service listens on. */
    host: string;
    /** Whether requests without a credential are accepted. */
    isOpen: boolean;
    /** The published agents; a new object after each publication. */
    published(): { ids: readonly string[]; published_at: number };
    settings: TaskHandlerDeps['settings'] & CardSettings & PushAddressSettings & { default_agent_id: string };
  };

type PushAddressSettings = { a2a_push_block_private_hosts: boolean | undefined };

/**
 * A sender of a message can make the service post to any address. Private addresses are blocked, unless the service
 * listens on loopback, where all senders are on this host.
 */
const guardOf = (settings: PushAddressSettings, host: string): PostGuard | undefined => {
  const blocks = settings.a2a_push_block_private_hosts ?? !isLoopback(host);
  return blocks ? { resolve: resolveName, mayConnect: isPublicAddress } : undefined;
};

/** A maker needs the rights that a new config would need (identity.md 1.5, 3.4). */
const createPushJudge =
  ({ access, makers }: Pick<AdapterDeps, 'access' | 'makers'>): JudgeMaker =>
  (maker, { scope, task_id: id }) => {
    const judged = makers.judge(maker);
    if (judged === 'ended') return 'ended';
    return judged !== 'refused' && access.mayOutlive(judged, { scope, id }) ? 'allowed' : 'forbidden';
  };

export const createA2aAdapter = (deps: AdapterDeps): A2aAdapter => {
  const { resolve, settings } = deps;
  const agents = createCardAgents({ ...deps, resolve, defaultId: settings.default_agent_id });
  const guard = guardOf(settings, deps.host);
  const enabled = settings.a2a_push_enabled;
  const push = createPush({
    ...deps,
    post: createPost({ guard }),
    guard,
    enabled,
    judge: createPushJudge(deps),
  });
  deps.runtime.threads.onTransfer(({ scope, runs }) => {
    const resume = push.suspend(scope, runs);
    return (moved) => resume(moved?.scope ?? scope, moved?.runs ?? runs);
  });
  const sending = { ...deps, agents, push };
  const sends = createSends(sending);
  return {
    families: a2aRoutes({
      tasks: createTaskHandlers(sending, sends),
      push: createPushHandlers({ ...deps, push, agents, enabled }),
      cards: createCards({ ...deps, agents }),
    }),
    start() {
      if (enabled) push.start();
    },
    stop() {
      sends.stop();
      push.stop();
    },
  };
};
