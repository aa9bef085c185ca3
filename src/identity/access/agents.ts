import { Invalid } from '../../schema/outcome.ts';
import { may, type Principal } from '../../schema/principal.ts';

/**
 * Returns the agent if the principal may invoke it; other agents do not exist for it (identity.md 1.4).
 *
 * @throws Invalid
 */
export const checkAgent = <Agent extends { spec: { id: string } }>(
  principal: Principal,
  agent: Agent,
): Agent => {
  const { id } = agent.spec;
  if (may(principal, ['invoke', id])) return agent;
  throw new Invalid(`agent not found: ${id}`);
};
