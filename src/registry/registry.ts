import type { Plugin } from '../plugins/plugin.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import { createResolver, type Resolved } from './agents.ts';
import { diagnose } from './diagnostics.ts';
import { createModels, type ModelsInput } from './models.ts';
import type { Records } from './records.ts';
import { attempt, Unmet } from './unmet.ts';

/**
 * Agents with everything that their specs name, compiled once.
 *
 * Guarantees: a registry never changes, so a run keeps the agent that it was resolved with, and resolving one is a
 * look-up. What is wrong with one entry does not touch the others: it is a problem in the list, and whoever
 * resolves an agent that needs the entry is told.
 * Relies on: ids are unique within each list of records (`mergeRecords`).
 * Costs: every provider, model and agent is built when the registry is made.
 */

export type Registry = {
  readonly resolution_id: string;
  /** Empty when every entry can be used. */
  readonly problems: readonly string[];
  /** @throws Invalid `agent not found: <id>`, or why the agent cannot be resolved */
  resolve(agentId: string): Resolved;
};

export type RegistryInput = Omit<ModelsInput, 'records'> & {
  records: Records;
  catalogue: Catalogue;
  plugins: readonly Plugin[];
  subAgents: SubAgents;
  resolution_id: string;
};

/** @throws Invalid when two plugins have one id */
export const createRegistry = (input: RegistryInput): Registry => {
  const { records, catalogue, subAgents, resolution_id } = input;
  const plugins = pluginsById(input.plugins);
  const models = createModels(input);
  const specs = new Map(records.agents.map((spec) => [spec.id, spec]));
  const resolver = createResolver({ models, plugins, catalogue, agents: specs, subAgents, resolution_id });
  const agents = new Map(records.agents.map((spec) => [spec.id, attempt(() => resolver(spec))]));
  const providers = input.providers.map(({ id }) => id);
  return {
    resolution_id,
    problems: [
      ...diagnose(records, { providers, plugins: plugins.keys() }).map(({ message }) => message),
      ...sharedIds(records),
      ...models.problems,
      ...[...agents].flatMap(([id, agent]) =>
        'failure' in agent && !(agent.failure instanceof Unmet) ? `${id}: ${agent.failure.message}` : [],
      ),
    ],
    resolve(agentId) {
      const agent = agents.get(agentId);
      if (!agent) throw new Invalid(`agent not found: ${agentId}`);
      if ('failure' in agent) throw agent.failure;
      return agent.result;
    },
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
