import type { ResolvedAgent } from '../loop/agent.ts';
import { checkNewId } from '../schema/id.ts';
import type { RouteDeps } from './route-deps.ts';

/** Resolves the thread and the agent of a request (chat-and-agui.md 2.4). */

export type Addressing = {
  /** Returns the named thread, which need not exist, or a new one. @throws Invalid */
  threadOf(named: string | undefined): string;
  /**
   * Returns the named agent, else the last agent of the thread if it still exists, else the default. @throws Invalid
   */
  agentFor(scope: string, thread_id: string, named?: string): ResolvedAgent;
};

export const createAddressing = ({
  ids,
  runtime,
  resolve,
  isAgent,
  settings,
}: Pick<RouteDeps, 'ids' | 'runtime' | 'resolve' | 'isAgent' | 'settings'>): Addressing => ({
  threadOf(named) {
    const id = named?.trim();
    return id ? checkNewId('thread', 'thread_id', id) : ids.uuid();
  },
  agentFor(scope, thread_id, named) {
    if (named !== undefined) return resolve(named);
    const last = runtime.lastAgent(scope, thread_id);
    return resolve(last !== undefined && isAgent(last) ? last : settings.default_agent_id);
  },
});
