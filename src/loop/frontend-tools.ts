import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { clientToolOf } from '../tools/client-tool.ts';
import type { ResolvedAgent } from './agent.ts';

/**
 * The agent with the tools that the client of a run has declared (agent-loop.md 7.5), each in the place of one of the
 * agent's own of the same id. They are in the activation of the run, so that whatever executes it has them: after a
 * wait, a hand-over or a restart. The lists of tools that an agent allows say nothing of them.
 */
export const withFrontendTools = (
  agent: ResolvedAgent,
  declared: readonly ToolDescriptor[] = [],
): ResolvedAgent => {
  if (declared.length === 0) return agent;
  const own = declared.map((descriptor) => [descriptor.id, clientToolOf(descriptor)] as const);
  return { ...agent, tools: new Map([...agent.tools, ...own]) };
};
