import type { Plugin } from '../plugins/plugin.ts';
import type { SkillSpec } from '../plugins/skills/skill.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import { createResolver, type RemoteAgents, type Resolved } from './agents.ts';
import { type Diagnostic, diagnose } from './diagnostics.ts';
import { createModels, type IsMeant, type Models, type ModelsInput } from './models.ts';
import type { Records } from './records.ts';
import { type Attempt, attempt, Unmet } from './unmet.ts';

/**
 * Agents with everything that their specs reference.
 *
 * Guarantees: a registry never changes, so a run keeps the agent that it was resolved with, and repeated resolution is
 * a lookup. A problem of one entry does not affect the others: it is listed as a problem, and resolving an agent that
 * needs the entry fails.
 * Relies on: ids are unique within each list of records (`mergeRecords`).
 * Cost: providers that are not in `previous` are built with the registry, agents and models on first use. So a registry
 * of a thousand unused agents costs only some maps.
 */

export type Registry = {
  readonly resolution_id: string;
  /** Returns the problems of all or of the selected entries, whose agents are compiled. */
  problems(isMeant?: IsMeant): readonly string[];
  readonly models: Models;
  /** @throws Invalid `agent not found: <id>`, or why the agent cannot be resolved */
  resolve(agentId: string): Resolved;
  spec(agentId: string): AgentSpec | undefined;
  /** Resolves an agent that is not an entry; the result is not cached. @throws as `resolve` */
  compile(spec: AgentSpec): Resolved;
  /** Returns the fault of an agent itself; its missing references are in `diagnostics`. */
  faultOf(agentId: string): string | undefined;
  /** Returns whether the agent has the tool. */
  hasTool(agentId: string, toolId: string): boolean;
  /** Returns whether the agent has tools. */
  hasTools(agentId: string): boolean;
  /** Returns dangling references. */
  diagnostics(): Diagnostic[];
};

export type RegistryInput = Omit<ModelsInput, 'records' | 'previous'> & {
  records: Records & { skills?: readonly SkillSpec[] };
  catalogue: Catalogue;
  plugins: readonly Plugin[];
  subAgents: SubAgents;
  remoteAgents?: RemoteAgents | undefined;
  resolution_id: string;
  /** Returns the published version of an entry. */
  versionOf?: ((agentId: string) => number | undefined) | undefined;
  /** Ids of the configured MCP servers. */
  mcpServers?: readonly string[];
  /** Returns whether skills may reference an id, in addition to the tools of the catalog. */
  isTool?: (id: string) => boolean;
  /** Equal providers and models of it are reused. */
  previous?: Registry | undefined;
};

/** @throws Invalid when two plugins have the same id */
export const createRegistry = ({ previous, ...input }: RegistryInput): Registry => {
  const {
    records,
    providers,
    catalogue,
    subAgents,
    remoteAgents,
    resolution_id,
    versionOf = () => undefined,
    mcpServers = [],
    isTool = () => false,
  } = input;
  const plugins = pluginsById(input.plugins);
  // No function below may reference `previous`, or each registry would retain all earlier ones.
  const models = createModels({ ...input, previous: previous?.models.built });
  const specs = new Map(records.agents.map((spec) => [spec.id, spec]));
  const resolver = createResolver({
    models,
    plugins,
    catalogue,
    agents: specs,
    subAgents,
    remoteAgents,
    mcpServers,
    resolution_id,
  });
  const compiled = createCache(specs, (spec) => resolver(spec, versionOf(spec.id)));
  const faultOf = (id: string): string | undefined => {
    const agent = compiled(id);
    if ('result' in agent || agent.failure instanceof Unmet) return undefined;
    return `${id}: ${agent.failure.message}`;
  };
  const diagnostics = (): Diagnostic[] =>
    diagnose(records, {
      providers: providers.map(({ id }) => id),
      plugins: plugins.keys(),
      tools: { has: (id) => catalogue.get(id) !== undefined || isTool(id) },
    });
  return {
    resolution_id,
    models,
    problems(isMeant = () => true) {
      return [
        ...diagnostics().map(({ message }) => message),
        ...sharedIds(records),
        ...models.problems(isMeant),
        ...[...specs.keys()].flatMap((id) => (isMeant('agents', id) && faultOf(id)) || []),
      ];
    },
    resolve(agentId) {
      const agent = compiled(agentId);
      if ('failure' in agent) throw agent.failure;
      return agent.result;
    },
    spec: (agentId) => specs.get(agentId),
    compile: (spec) => resolver(spec),
    faultOf,
    hasTool(agentId, toolId) {
      const agent = compiled(agentId);
      return 'result' in agent && agent.result.tools.has(toolId);
    },
    hasTools(agentId) {
      const agent = compiled(agentId);
      return 'result' in agent && agent.result.tools.size > 0;
    },
    diagnostics,
  };
};

/** Resolves each agent once. */
const createCache = (
  specs: ReadonlyMap<string, AgentSpec>,
  resolve: (spec: AgentSpec) => Resolved,
): ((id: string) => Attempt<Resolved>) => {
  const agents = new Map<string, Attempt<Resolved>>();
  return (id) => {
    const known = agents.get(id);
    if (known) return known;
    const spec = specs.get(id);
    // Only ids of existing agents are cached.
    if (!spec) return { failure: new Invalid(`agent not found: ${id}`) };
    const agent = attempt(() => resolve(spec));
    agents.set(id, agent);
    return agent;
  };
};

const pluginsById = (plugins: readonly Plugin[]): ReadonlyMap<string, Plugin> => {
  const byId = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (byId.has(plugin.id)) throw new Invalid(`plugin ID conflict: two plugins are called "${plugin.id}"`);
    byId.set(plugin.id, plugin);
  }
  return byId;
};

const sharedIds = ({ models, model_pools }: Records): string[] =>
  model_pools
    .filter(({ id }) => models.some((model) => model.id === id))
    .map(({ id }) => `model registry conflict: pool '${id}' already registered as a model`);
