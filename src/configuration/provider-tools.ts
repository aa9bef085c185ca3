import { adapterName } from '../models/provider.ts';
import { judgeTools } from '../models/provider-tools.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { ModelSpec } from '../schema/model.ts';
import type { Records } from './records.ts';

/** Reports provider tools of agents that one of their models does not execute: requests to it omit them. */

export type ProviderToolWarning = {
  code: 'agent_provider_tool_left_out';
  severity: 'warning';
  resource: { namespace: 'agents'; id: string };
  message: string;
};

/** `hasTools` returns whether the agent has tools of the service. It is called only for agents with provider tools. */
export const leftOutProviderTools = (
  records: Records,
  hasTools: (agentId: string) => boolean,
): ProviderToolWarning[] => {
  const agents = records.agents.filter(({ provider_tools }) => provider_tools.length > 0);
  if (agents.length === 0) return [];
  const adapters = new Map(records.providers.map(({ id, adapter }) => [id, adapterName(adapter)]));
  return agents.flatMap((agent) => {
    const { id, provider_tools: tools } = agent;
    if (agent.endpoint)
      return tools.map(({ type }) =>
        warning(id, type, 'the agent runs at another service, which has its own'),
      );
    return membersOf(records, agent).flatMap((model) => {
      const adapter = adapters.get(model.provider_id);
      // For a provider of the embedding program, support is unknown.
      if (adapter === undefined) return [];
      const place = { adapter, upstream: model.upstream_model, hasFunctions: hasTools(id) };
      return judgeTools(tools, place).leftOut.map(({ type, reason }) =>
        warning(id, type, `${reason} (model entry '${model.id}')`),
      );
    });
  });
};

const membersOf = ({ models, model_pools }: Records, { model_id }: AgentSpec): ModelSpec[] => {
  const pool = model_pools.find(({ id }) => id === model_id);
  const ids = new Set(pool ? pool.members.map((member) => member.model_id) : [model_id]);
  return models.filter(({ id }) => ids.has(id));
};

const warning = (id: string, type: string, reason: string): ProviderToolWarning => ({
  code: 'agent_provider_tool_left_out',
  severity: 'warning',
  resource: { namespace: 'agents', id },
  message: `agent '${id}' is not offered the provider tool '${type}': ${reason}`,
});
