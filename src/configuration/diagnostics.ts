import { isExactTool } from '../plugins/skills/allowed-tools.ts';
import type { SkillSpec } from '../plugins/skills/skill.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { ConfigNamespace } from '../schema/config-record.ts';
import type { Records } from './records.ts';

/** Dangling references in the configuration (config.md 6.1). */

type Namespace = 'agents' | 'models' | 'model-pools' | 'providers' | 'plugins' | 'skills' | 'tools';

export type Diagnostic = {
  code: string;
  severity: 'error';
  resource: { namespace: Namespace; id: string };
  depends_on: { namespace: Namespace; id: string };
  message: string;
};

/** A tool of an MCP server that is not offered to agents. */
export type ToolWarning = {
  code: 'mcp_tool_left_out';
  severity: 'warning';
  resource: { namespace: 'mcp-servers'; id: string };
  message: string;
};

/** A stored MCP server whose `auth` this version cannot read. */
export type AuthWarning = {
  code: 'mcp_auth_unreadable';
  severity: 'warning';
  resource: { namespace: 'mcp-servers'; id: string };
  message: string;
};

/** A secret that a restore or an import did not bring for the destination of the entry. */
export type SecretWarning = {
  code: 'secret_dropped';
  severity: 'warning';
  resource: { namespace: ConfigNamespace; id: string };
  field: string;
  message: string;
};

export type Known = {
  /** Ids of providers without a record. */
  providers: Iterable<string>;
  plugins: Iterable<string>;
  /** Ids of tools that skills may reference. */
  tools?: Ids;
};

type Entries = Records & { skills?: readonly SkillSpec[] };

/** Returns distinct problems in the order of the records. */
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
        describe: (provider) => `model '${id}' references missing provider '${provider}'`,
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
          describe: (model) => `model pool '${id}' references missing model '${model}'`,
        },
      ),
    ),
    ...(records.skills ?? []).flatMap(({ id, allowed_tools = [] }) =>
      missing(tools, allowed_tools.filter(isExactTool), {
        code: 'skill_missing_tool',
        resource: { namespace: 'skills', id },
        namespace: 'tools',
        describe: (tool) => `skill '${id}' allowed_tools references unknown tool '${tool}'`,
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
      describe: (model) =>
        model === '' ? `agent '${id}' has no model_id` : `agent '${id}' references missing model '${model}'`,
    }),
    ...missing(ids.plugins, agent.plugin_ids, {
      code: 'agent_missing_plugin',
      resource,
      namespace: 'plugins',
      describe: (plugin) => `agent '${id}' uses missing plugin '${plugin}'`,
    }),
    ...missing(ids.agents, agent.delegates, {
      code: 'agent_missing_delegate',
      resource,
      namespace: 'agents',
      describe: (delegate) => `agent '${id}' delegates to missing agent '${delegate}'`,
    }),
    ...missing(new Set(agent.plugin_ids), agent.active_hook_filter, {
      code: 'agent_hook_filter_plugin_not_loaded',
      resource,
      namespace: 'plugins',
      describe: (plugin) => `agent '${id}' active hook filter references unloaded plugin '${plugin}'`,
    }),
  ];
};

type Rule = {
  code: string;
  resource: Diagnostic['resource'];
  namespace: Namespace;
  describe(id: string): string;
};

const missing = (
  there: Ids,
  named: readonly string[],
  { code, resource, namespace, describe }: Rule,
): Diagnostic[] =>
  named
    .filter((id) => !there.has(id))
    .map((id) => ({
      code,
      severity: 'error',
      resource,
      depends_on: { namespace, id },
      message: describe(id),
    }));

const idsOf = (entries: readonly { id: string }[], more: Iterable<string> = []): ReadonlySet<string> =>
  new Set([...entries.map(({ id }) => id), ...more]);
