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
 * Agents with everything that their specs name.
 *
 * Guarantees: a registry never changes, so a run keeps the agent that it was resolved with, and resolving one a
 * second time is a look-up. What is wrong with one entry does not touch the others: it is a problem in the list, and
 * whoever resolves an agent that needs the entry is told.
 * Relies on: ids are unique within each list of records (`mergeRecords`).
 * Costs: the providers that are not in `previous` are built when the registry is made, an agent and its model when
 * they are asked for first. So a registry of a thousand agents that nobody uses costs some maps.
 */

export type Registry = {
  readonly resolution_id: string;
  /** Empty when the entries can be used, all of them or those named. Compiles the agents among them. */
  problems(isMeant?: IsMeant): readonly string[];
  readonly models: Models;
  /** @throws Invalid `agent not found: <id>`, or why the agent cannot be resolved */
  resolve(agentId: string): Resolved;
  spec(agentId: string): AgentSpec | undefined;
  /** An agent that is no entry, with what the entries offer; nothing of it is kept. @throws as `resolve` */
  compile(spec: AgentSpec): Resolved;
  /** What is wrong with an agent itself; what it names and nobody has is in `diagnostics`. */
  faultOf(agentId: string): string | undefined;
  /** Whether the agent is offered the tool. */
  hasTool(agentId: string, toolId: string): boolean;
  /** Whether the agent is offered any tool. */
  hasTools(agentId: string): boolean;
  /** Names that lead nowhere. */
  diagnostics(): Diagnostic[];
};

export type RegistryInput = Omit<ModelsInput, 'records' | 'previous'> & {
  records: Records & { skills?: readonly SkillSpec[] };
  catalogue: Catalogue;
  plugins: readonly Plugin[];
  subAgents: SubAgents;
  remoteAgents?: RemoteAgents | undefined;
  resolution_id: string;
  /** ids of the MCP servers that are configured */
  mcpServers?: readonly string[];
  /** ids of tools that skills may name, besides those of the catalogue */
  isTool?: (id: string) => boolean;
  /** Its providers and models are taken over where they are the same. */
  previous?: Registry | undefined;
};

/** @throws Invalid when two plugins have one id */
export const createRegistry = ({ previous, ...input }: RegistryInput): Registry => {
  const {
    records,
    providers,
    catalogue,
    subAgents,
    remoteAgents,
    resolution_id,
    mcpServers = [],
    isTool = () => false,
  } = input;
  const plugins = pluginsById(input.plugins);
  // No function below may see `previous`: each registry would hold all that were before it.
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
  const agents = new Map<string, Attempt<Resolved>>();
  const compiled = (id: string): Attempt<Resolved> => {
    const known = agents.get(id);
    if (known) return known;
    const spec = specs.get(id);
    // Whatever ids are asked for, only those of agents are kept.
    if (!spec) return { failure: new Invalid(`agent not found: ${id}`) };
    const agent = attempt(() => resolver(spec));
    agents.set(id, agent);
    return agent;
  };
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
    compile: resolver,
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
