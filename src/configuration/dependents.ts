import { compileTools, isExactTool } from '../plugins/skills/allowed-tools.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { ConfigNamespace } from '../schema/config-record.ts';
import type { ModelSpec } from '../schema/model.ts';
import { mcpToolPrefix } from '../tools/mcp-id.ts';
import type { Records } from './records.ts';

/**
 * Determines which entries depend on an entry (config.md 6.2, 6.3). The records are the visible ones with their
 * overrides. Hidden ones are not included, so they neither have dependents nor count as dependents.
 */

export type Referrers = Pick<Records, 'models' | 'model_pools' | 'agents'> & {
  skills: readonly { id: string; allowed_tools?: readonly string[] }[];
  /** Ids of the currently registered tools. */
  tools: readonly string[];
};

export type Dependent = { namespace: ConfigNamespace; id: string };

/** Sorted by id within each namespace. */
export const usedBy = (namespace: ConfigNamespace, id: string, records: Referrers): Dependent[] =>
  RULES[namespace]?.(id, records) ?? [];

type Rule = (id: string, records: Referrers) => Dependent[];

const RULES: Partial<Record<ConfigNamespace, Rule>> = {
  providers: (id, { models }) => dependents('models', modelsOf(id, models)),
  models: (id, { agents, model_pools }) => [
    ...dependents('agents', agents.filter(runsOn(id))),
    ...dependents(
      'model-pools',
      model_pools.filter(({ members }) => members.some(({ model_id }) => model_id === id)),
    ),
  ],
  'model-pools': (id, { agents }) => dependents('agents', agents.filter(runsOn(id))),
  'a2a-servers': (id, { agents }) =>
    dependents(
      'agents',
      agents.filter(({ endpoint }) => endpoint?.backend === 'a2a' && endpoint.options.a2a_server_id === id),
    ),
  'mcp-servers': (id, { skills, tools }) => {
    const isTold = namesToolOf(id, tools);
    return dependents(
      'skills',
      skills.filter(({ allowed_tools = [] }) => allowed_tools.some(isTold)),
    );
  },
  // An agent that delegates to itself does not prevent its own removal.
  agents: (id, { agents }) =>
    dependents(
      'agents',
      agents.filter((agent) => agent.id !== id && agent.delegates.includes(id)),
    ),
};

const dependents = (namespace: ConfigNamespace, entries: readonly { id: string }[]): Dependent[] =>
  idsOf(entries).map((id) => ({ namespace, id }));

const idsOf = (entries: readonly { id: string }[]): string[] =>
  [...new Set(entries.map(({ id }) => id))].sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );

const modelsOf = (provider: string, models: readonly ModelSpec[]): ModelSpec[] =>
  models.filter(({ provider_id }) => provider_id === provider);

/** A remote agent uses no local model, whatever its spec contains. */
const runsOn =
  (target: string) =>
  ({ endpoint, model_id }: AgentSpec): boolean =>
    !endpoint && model_id === target;

/** Clients use the id of the server either literally, or in the form that tool ids contain. */
const namesToolOf = (server: string, tools: readonly string[]): ((token: string) => boolean) => {
  const toolPrefix = /[A-Za-z0-9]/.test(server) ? mcpToolPrefix(server) : undefined;
  const prefixes = [`mcp__${server}__`, ...(toolPrefix === undefined ? [] : [toolPrefix])];
  const registered = tools.filter((tool) => toolPrefix !== undefined && tool.startsWith(toolPrefix));
  return (token) =>
    prefixes.some((prefix) => token.startsWith(prefix)) ||
    (!isExactTool(token) && registered.some(compileTools(token)));
};

/** Returns the models that a forced delete of the provider removes: those that no local agent and no pool uses. */
export const unusedModels = (provider: string, records: Referrers): string[] =>
  idsOf(modelsOf(provider, records.models)).filter((id) => usedBy('models', id, records).length === 0);

export type RemovalPreview = {
  provider_id: string;
  model_ids: string[];
  pool_ids: string[];
  agent_ids: string[];
  /** Whether a plain DELETE succeeds. */
  block_if_referenced_allowed: boolean;
  /** Whether a forced DELETE leaves no dangling references. */
  cascade_unused_models_allowed: boolean;
};

export const previewRemoval = (
  provider_id: string,
  { models, model_pools, agents }: Omit<Referrers, 'skills' | 'tools'>,
): RemovalPreview => {
  const model_ids = idsOf(modelsOf(provider_id, models));
  const pool_ids = idsOf(
    model_pools.filter(({ members }) => members.some(({ model_id }) => model_ids.includes(model_id))),
  );
  const targets = [...model_ids, ...pool_ids];
  const agent_ids = idsOf(agents.filter((agent) => targets.some((target) => runsOn(target)(agent))));
  return {
    provider_id,
    model_ids,
    pool_ids,
    agent_ids,
    block_if_referenced_allowed: model_ids.length === 0,
    cascade_unused_models_allowed: agent_ids.length === 0 && pool_ids.length === 0,
  };
};
