import type { RunAdapter } from '../schema/activation.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { clientToolOf } from '../tools/client-tool.ts';
import type { ResolvedAgent } from './agent.ts';

/**
 * Adds the tools that the client of a run has declared (agent-loop.md 7.5). They are part of the activation of the run,
 * so that every process that executes it has them: after a wait, a handoff or a restart. The tool lists of an agent
 * do not apply to them. They replace a tool of the agent only if the agent lists it in `client_tools`; a request that
 * declares another one is rejected before it is accepted, so the check here matters for agents that take the run over.
 * Clients of OpenAI know no tools of the agent: their functions replace any of them (openai.md 4).
 */
export const withFrontendTools = (
  agent: ResolvedAgent,
  declared: readonly ToolDescriptor[] = [],
  adapter?: RunAdapter,
): ResolvedAgent => {
  const added = adapter === 'openai' ? declared : declared.filter(({ id }) => !isOwnTool(agent, id));
  if (added.length === 0) return agent;
  const tools = added.map((descriptor) => [descriptor.id, clientToolOf(descriptor)] as const);
  return { ...agent, tools: new Map([...agent.tools, ...tools]) };
};

/** Whether the agent keeps its own tool with this id, even if a client declares one. */
export function isOwnTool({ tools, spec }: Pick<ResolvedAgent, 'tools' | 'spec'>, id: string): boolean {
  return tools.has(id) && !spec.client_tools.includes(id);
}
