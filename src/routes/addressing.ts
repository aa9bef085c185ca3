import { checkAgent } from '../identity/access/agents.ts';
import { ownPartition } from '../identity/access/own.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { checkNewId } from '../schema/id.ts';
import type { Place } from '../schema/place.ts';
import type { Principal } from '../schema/principal.ts';
import type { Reading } from '../schema/reader.ts';
import { createNamedAgents } from './named-agent.ts';
import type { RouteDeps } from './route-deps.ts';

/** Resolves the thread and the agent of a request (chat-and-agui.md 2.4). */

export type Addressing = {
  /** Returns the named thread, which need not exist, or a new one. @throws Invalid */
  threadOf(principal: Principal, named: string | undefined): Place;
  /**
   * Returns the named agent, else the last agent of the thread if it still exists, else the default. @throws Invalid
   */
  agentFor(principal: Principal, thread: Place, named?: string): ResolvedAgent | Promise<ResolvedAgent>;
  /** Returns what the response to a request of the principal reads. */
  readingOf(principal: Principal, thread: Place, named?: string): Reading;
};

export const createAddressing = (
  deps: Pick<RouteDeps, 'access' | 'ids' | 'runtime' | 'resolve' | 'resolveAddress' | 'isAgent' | 'settings'>,
): Addressing => {
  const { access, ids, runtime, resolve, isAgent, settings } = deps;
  const named = createNamedAgents(deps);
  return {
    threadOf(principal, given) {
      const id = given?.trim();
      return id
        ? access.thread(principal, checkNewId('thread', 'thread_id', id), 'read')
        : { scope: ownPartition(principal), id: ids.uuid() };
    },
    agentFor(principal, { scope, id }, name) {
      if (name !== undefined) return named(principal, name);
      const last = runtime.lastAgent(scope, id);
      if (last === undefined || !isAgent(last))
        return checkAgent(principal, resolve(settings.default_agent_id));
      // An agent that was reached by a handoff needs no grant on the thread of its user.
      const isOwn = scope === ownPartition(principal);
      return isOwn ? resolve(last) : checkAgent(principal, resolve(last));
    },
    // A principal that may not write has sent a decision.
    readingOf: (principal, thread, name) =>
      access.reading('thread', thread, access.may(principal, thread, 'write') ? 'write' : 'decide', name),
  };
};
