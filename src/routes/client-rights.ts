import type { ResolvedAgent } from '../loop/agent.ts';
import { isOwnTool } from '../loop/frontend-tools.ts';
import { Invalid } from '../schema/outcome.ts';
import { may, type Need, type Principal } from '../schema/principal.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';

/**
 * Checks client input other than user messages (agent-loop.md 7.5). The description of a tool that a client declares
 * becomes part of the prompt, the client controls the results of the tool, and a system message has the authority of
 * the operator. So both require the consent of the agent.
 */

const ADMIN: Need = ['admin'];

const SYSTEM_ROLES: ReadonlySet<string> = new Set(['system', 'developer']);

/** @throws Invalid */
export function checkClientTools(agent: ResolvedAgent, declared: readonly ToolDescriptor[] = []): void {
  const own = declared.find(({ id }) => isOwnTool(agent, id));
  if (own) throw new Invalid(`tool '${own.id}' is the agent's own`);
}

/**
 * @param roles of the messages that are new to the thread
 * @throws Invalid
 */
export function checkClientRoles(
  { spec }: Pick<ResolvedAgent, 'spec'>,
  roles: readonly string[],
  principal: Principal,
): void {
  if (spec.client_system_messages) return;
  const refused = roles.find((role) => SYSTEM_ROLES.has(role));
  if (refused === undefined || may(principal, ADMIN)) return;
  throw new Invalid(`role '${refused}' is not accepted from clients`);
}
