import type { ResolvedAgent } from '../loop/agent.ts';
import { upstreamProblem } from '../loop/request.ts';
import { Invalid } from '../schema/outcome.ts';
import type { RunOverrides } from '../schema/run-overrides.ts';

/**
 * Rejects overrides that the agent does not support, before anything is written.
 *
 * @throws Invalid
 */
export function checkRunOverrides(agent: ResolvedAgent, { tool_choice, upstream_model }: RunOverrides): void {
  // The runtime rejects all overrides for remote agents.
  if (agent.remote) return;
  const problem = upstreamProblem(agent.model, upstream_model);
  if (problem !== undefined) throw new Invalid(problem);
  if (typeof tool_choice === 'object' && !agent.tools.has(tool_choice.tool)) {
    throw new Invalid(
      `overrides.tool_choice.tool: agent '${agent.spec.id}' has no tool '${tool_choice.tool}'`,
    );
  }
}
