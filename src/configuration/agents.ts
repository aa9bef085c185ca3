import type { Capabilities } from '../models/capabilities.ts';
import type { AcceptedInput, Model } from '../models/model.ts';
import { DEFAULT_RETRY, type RetrySettings } from '../models/retry.ts';
import type { CompactorDeps } from '../plugins/context/compactor.ts';
import { createDefaultPlugins } from '../plugins/context/plugin.ts';
import { effectivePolicy } from '../plugins/context/policy.ts';
import { compactionSettings, retrySettings, shorteningLimits } from '../plugins/context/settings.ts';
import type { Plugin, PluginParts } from '../plugins/plugin.ts';
import { createStopPolicies, type StopPolicies } from '../plugins/stop/policies.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { ContextPolicy } from '../schema/context-policy.ts';
import type { RemoteEndpoint } from '../schema/endpoint.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import { createDelegateTool } from '../tools/delegate.ts';
import { localDelegate } from '../tools/delegate-local.ts';
import { remoteDelegate } from '../tools/delegate-remote.ts';
import { withMcpNames } from '../tools/mcp-names.ts';
import type { RemoteAgent } from '../tools/remote-agent.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import type { Tool } from '../tools/tool.ts';
import { compileToolRules } from '../tools/tool-rules.ts';
import { checkAgent } from './check.ts';
import type { Models } from './models.ts';
import { Unmet } from './unmet.ts';

/** Resolves a spec to an executable agent (agent-loop.md 1.3, 1.8). */

export type Resolved = {
  readonly spec: AgentSpec;
  readonly model: Model;
  readonly accepts?: AcceptedInput;
  readonly takesTools?: boolean;
  readonly mostOutput?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly remote?: RemoteAgent;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly plugins: readonly { readonly id: string; readonly parts: PluginParts }[];
  readonly stop: StopPolicies;
  readonly contextPolicy: ContextPolicy | undefined;
  /** The dependencies of the agent's compactor; only with a context policy. */
  readonly compaction: Pick<CompactorDeps, 'model' | 'settings' | 'limits'> | undefined;
  readonly retry: RetrySettings;
  readonly resolution_id: string;
  readonly version: number | undefined;
};

export type RemoteAgents = (endpoint: RemoteEndpoint) => RemoteAgent;

export type ResolverDeps = {
  models: Pick<Models, 'target'>;
  plugins: ReadonlyMap<string, Plugin>;
  catalogue: Catalogue;
  /** Agents to which others may delegate, by id. */
  agents: ReadonlyMap<string, AgentSpec>;
  subAgents: SubAgents;
  /** Connects remote agents; without it, they cannot be resolved. */
  remoteAgents?: RemoteAgents | undefined;
  /** Ids as configured. */
  mcpServers?: readonly string[];
  resolution_id: string;
};

/** @throws Unmet when a dependency is missing, Invalid when the spec itself is wrong */
export const createResolver = ({
  models,
  plugins,
  catalogue,
  agents,
  subAgents,
  remoteAgents,
  mcpServers = [],
  resolution_id,
}: ResolverDeps): ((spec: AgentSpec, version?: number) => Resolved) => {
  const defaults = createDefaultPlugins({
    modelOf: ({ model_id }) => models.target(model_id).facts,
  });
  const listed = ({ plugin_ids }: AgentSpec): Plugin[] =>
    [...new Set(plugin_ids)].map((id) => {
      const plugin = plugins.get(id);
      if (!plugin) throw new Unmet(`plugin not found: ${id}`);
      return plugin;
    });
  const remoteOf = ({ id, endpoint }: AgentSpec, as: 'agent' | 'delegate'): RemoteAgent | undefined => {
    if (!endpoint) return undefined;
    if (remoteAgents && endpoint.backend === 'a2a') return remoteAgents(endpoint);
    throw new Unmet(`unsupported remote backend \`${endpoint.backend}\` for ${as} \`${id}\``);
  };
  /** The delegate is resolved when it is called, so that agents may delegate to each other. */
  const delegateTools = ({ delegates }: AgentSpec): Tool[] =>
    [...new Set(delegates)].map((id) => {
      const delegate = agents.get(id);
      if (!delegate) throw new Unmet(`agent not found: ${id}`);
      const remote = remoteOf(delegate, 'delegate');
      return createDelegateTool(delegate, remote ? remoteDelegate(remote) : localDelegate(id, subAgents));
    });
  return (spec, version) => {
    checkAgent(spec);
    const remote = remoteOf(spec, 'agent');
    if (remote) return { spec, remote, ...NOTHING_HERE, model: nameOnly(spec), resolution_id, version };
    const { route, facts, accepts, takesTools, mostOutput } = models.target(spec.model_id);
    const retry = retrySettings(spec);
    const model = route(retry);
    const { active_hook_filter: filter } = spec;
    const own = listed(spec).map((plugin) => ({
      plugin,
      acts: filter.length === 0 || filter.includes(plugin.id),
    }));
    // The built-in plugins process a request last, so that it fits the model.
    const all = [...own, ...defaults.map((plugin) => ({ plugin, acts: true }))];
    const { tools, plugins: acting } = equip(spec, all, {
      catalogue,
      delegates: delegateTools(spec),
      mcpServers,
    });
    const more = acting.flatMap(({ parts }) => parts.stop_conditions ?? []);
    return {
      spec,
      model,
      accepts,
      takesTools,
      mostOutput,
      contextWindow: facts.context_window,
      tools,
      plugins: acting,
      stop: createStopPolicies({ ...spec, stop_conditions: [...spec.stop_conditions, ...more] }),
      ...contextOf(spec, facts, model),
      retry,
      resolution_id,
      version,
    };
  };
};

/** Components of a remote agent, to which everything that acts on inferences does not apply. */
const NOTHING_HERE = {
  tools: new Map(),
  plugins: [],
  stop: createStopPolicies({ max_rounds: 0 }),
  contextPolicy: undefined,
  compaction: undefined,
  retry: DEFAULT_RETRY,
} as const;

/** Stands in for the model in the reports of a remote agent's runs. */
const nameOnly = ({ model_id }: AgentSpec): Model => ({
  id: model_id,
  provider: 'a2a',
  upstream: model_id,
  stream: () => Promise.reject(new Error('a remote agent cannot be used as a model')),
});

const contextOf = (
  spec: AgentSpec,
  facts: Capabilities,
  model: Model,
): Pick<Resolved, 'contextPolicy' | 'compaction'> =>
  spec.context_policy
    ? {
        contextPolicy: effectivePolicy(spec.context_policy, facts),
        compaction: { model, settings: compactionSettings(spec), limits: shorteningLimits(spec) },
      }
    : { contextPolicy: undefined, compaction: undefined };

type Listed = { plugin: Plugin; acts: boolean };

/** Passes each plugin the other tools of the agent, including those of earlier plugins. */
const equip = (
  spec: AgentSpec,
  all: readonly Listed[],
  {
    catalogue,
    delegates,
    mcpServers,
  }: { catalogue: Catalogue; delegates: readonly Tool[]; mcpServers: readonly string[] },
): Pick<Resolved, 'tools' | 'plugins'> => {
  const rules = withMcpNames(spec, mcpServers);
  const isOffered = compileToolRules(rules);
  const tools = catalogue.select(rules);
  const claim = createClaims(catalogue);
  const add = (tool: Tool, owner: Owner): void => {
    const { id } = tool.descriptor;
    claim(id, owner);
    if (isOffered(id)) tools.set(id, tool);
  };
  for (const tool of delegates) add(tool, 'delegate');
  const plugins = all.map(({ plugin, acts }) => {
    const { actions, ...rest } = plugin.parts({
      agent: spec,
      tools: Array.from(tools.values(), ({ descriptor }) => descriptor),
    });
    // A plugin that does not act still completes its scheduled actions.
    const parts: PluginParts = { ...(acts && rest), ...(actions && { actions }) };
    for (const tool of parts.tools ?? []) add(tool, 'plugin');
    return { id: plugin.id, parts };
  });
  return { tools, plugins };
};

type Owner = 'delegate' | 'plugin';

/** Rejects the second owner of an id; delegates have distinct ids. */
const createClaims = (catalogue: Catalogue): ((id: string, owner: Owner) => void) => {
  const owners = new Map<string, Owner>();
  return (id, owner) => {
    if (catalogue.get(id)) throw conflict(id, 'global', owner);
    const other = owners.get(id);
    if (other && owner === 'plugin') throw conflict(id, 'plugin', other);
    owners.set(id, owner);
  };
};

const conflict = (id: string, ...by: ('global' | 'plugin' | 'delegate')[]): Invalid =>
  new Invalid(`tool ID conflict: "${id}" registered by both ${by.join(' and ')}`);
