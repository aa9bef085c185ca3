import { checkAgent } from '../identity/access/agents.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { addressOf, UnknownAddress } from '../schema/agent-address.ts';
import { may, type Principal } from '../schema/principal.ts';
import type { RouteDeps } from './route-deps.ts';

/**
 * Resolves the agent that a request for a run names: an id, or the address of a version or a draft (config.md 8.1). An
 * agent whose id has the form of an address takes precedence.
 */
export type NamedAgents = (principal: Principal, name: string) => ResolvedAgent | Promise<ResolvedAgent>;

/** @throws Invalid `agent not found: <name>` also for agents that the principal may not invoke */
export const createNamedAgents =
  ({
    resolve,
    isAgent,
    resolveAddress,
  }: Pick<RouteDeps, 'resolve' | 'isAgent' | 'resolveAddress'>): NamedAgents =>
  (principal, name) => {
    const address = addressOf(name);
    if (!address || isAgent(name)) return checkAgent(principal, resolve(name));
    const { agent_id, version } = address;
    const isAllowed =
      may(principal, ['invoke', agent_id]) &&
      (version !== 'draft' || may(principal, ['configure', 'agents']));
    if (!isAllowed) throw new UnknownAddress(address);
    return resolveAddress(address);
  };
