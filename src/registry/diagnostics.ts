import { isExactTool } from '../plugins/skills/allowed-tools.ts';
import type { SkillSpec } from '../plugins/skills/skill.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { Records } from './records.ts';

/** Names in the configuration that lead nowhere (config.md 6.1). */

type Namespace = 'agents' | 'models' | 'model-pools' | 'providers' | 'plugins' | 'skills' | 'tools';

export type Diagnostic = {
  code: string;
  severity: 'error';
  resource: { namespace: Namespace; id: string };
  depends_on: { namespace: Namespace; id: string };
  message: string;
};

/** An MCP server lists a tool that agents are not offered. */
export type ToolWarning = {
  code: 'mcp_tool_left_out';
  severity: 'warning';
  resource: { namespace: 'mcp-servers'; id: string };
  message: string;
};

export type Known = {
  /** Providers that need no record. */
  providers: Iterable<string>;
  plugins: Iterable<string>;
  /** Ids of tools, for the skills. */
  tools?: Ids;
};

type Entries = Records & { skills?: readonly SkillSpec[] };

/** In the order of the records; no one twice. */
export const diagnose = (records: Entries, known: Known): Diagnostic[] => {
  const ids = {
    providers: idsOf(records.providers, known.providers),
    plugins: new Set(known.plugins),
    models: idsOf(records.models),
    targets: idsOf([...records.models, ...records.model_pools]),
    agents: idsOf(records.agents),
  };
  const { tools = new Set() } = known;
  const found = [
    ...records.agents.flatMap((agent) => ofAgent(agent, ids)),
    ...records.models.flatMap(({ id, provider_id }) =>
      missing(ids.providers, [provider_id], {
        code: 'model_missing_provider',
        resource: { namespace: 'models', id },
        namespace: 'providers',
        say: (provider) => `model '${id}' references missing provider '${provider}'`,
      }),
    ),
    ...records.model_pools.flatMap(({ id, members }) =>
      missing(
        ids.models,
        members.map(({ model_id }) => model_id),
        {
          code: 'model_pool_missing_model',
          resource: { namespace: 'model-pools', id },
          namespace: 'models',
          say: (model) => `model pool '${id}' references missing model '${model}'`,
        },
      ),
    ),
    ...(records.skills ?? []).flatMap(({ id, allowed_tools = [] }) =>
      missing(tools, allowed_tools.filter(isExactTool), {
        code: 'skill_missing_tool',
        resource: { namespace: 'skills', id },
        namespace: 'tools',
        say: (tool) => `skill '${id}' allowed_tools references unknown tool '${tool}'`,
      }),
    ),
  ];
  return [...new Map(found.map((each) => [`${each.code} ${each.message}`, each])).values()];
};

type Ids = Pick<ReadonlySet<string>, 'has'>;

const ofAgent = (agent: AgentSpec, ids: Record<'plugins' | 'targets' | 'agents', Ids>): Diagnostic[] => {
  const { id } = agent;
  const resource = { namespace: 'agents', id } as const;
  return [
    ...missing(ids.targets, agent.endpoint ? [] : [agent.model_id], {
      code: 'agent_missing_model',
      resource,
      namespace: 'models',
      say: (model) =>
        model === '' ? `agent '${id}' has no model_id` : `agent '${id}' references missing model '${model}'`,
    }),
    ...missing(ids.plugins, agent.plugin_ids, {
      code: 'agent_missing_plugin',
      resource,
      namespace: 'plugins',
      say: (plugin) => `agent '${id}' uses missing plugin '${plugin}'`,
    }),
    ...missing(ids.agents, agent.delegates, {
      code: 'agent_missing_delegate',
      resource,
      namespace: 'agents',
      say: (delegate) => `agent '${id}' delegates to missing agent '${delegate}'`,
    }),
    ...missing(new Set(agent.plugin_ids), agent.active_hook_filter, {
      code: 'agent_hook_filter_plugin_not_loaded',
      resource,
      namespace: 'plugins',
      say: (plugin) => `agent '${id}' active hook filter references unloaded plugin '${plugin}'`,
    }),
  ];
};

type Rule = {
  code: string;
  resource: Diagnostic['resource'];
  namespace: Namespace;
  say(id: string): string;
};

const missing = (
  there: Ids,
  named: readonly string[],
  { code, resource, namespace, say }: Rule,
): Diagnostic[] =>
  named
    .filter((id) => !there.has(id))
    .map((id) => ({
      code,
      severity: 'error',
      resource,
      depends_on: { namespace, id },
      message: say(id),
    }));

const idsOf = (entries: readonly { id: string }[], more: Iterable<string> = []): ReadonlySet<string> =>
  new Set([...entries.map(({ id }) => id), ...more]);
