import type { Provider } from '../../models/model.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import type { Skill } from '../../plugins/skills/skill.ts';
import { createSkillSource, type SkillSet, type SkillSource } from '../../plugins/skills/source.ts';
import { AgentSpec } from '../../schema/agent.ts';
import type { BudgetSpec } from '../../schema/budget.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { createCatalogue } from '../../tools/catalogue.ts';
import { clientToolOf } from '../../tools/client-tool.ts';
import type { SubAgents } from '../../tools/sub-agent.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RemoteAgents } from '../agents.ts';
import type { ModelsInput } from '../models.ts';
import type { Records } from '../records.ts';
import { createRegistry, type Registry, type RegistryInput } from '../registry.ts';
import { entriesOf, type Part } from './parts.ts';

/**
 * One immutable state of the configuration against which runs can be resolved. Its parts are built on demand, so a
 * snapshot of a write costs little more than one pass over them.
 */
export type Snapshot = {
  readonly resolution_id: string;
  readonly parts: readonly Part[];
  readonly records: Records;
  readonly registry: Registry;
  /** Includes skills that are not entries. */
  readonly skills: readonly Skill[];
  readonly mcpServers: readonly string[];
  readonly budgets: readonly BudgetSpec[];
  readonly plugins: readonly Plugin[];
  /** Tools of the catalog. */
  readonly tools: readonly Tool[];
  /** Returns the tools of plugins, independent of the agents that use them. */
  pluginTools(): readonly ToolDescriptor[];
};

export type SnapshotDeps = Pick<ModelsInput, 'providers' | 'routes' | 'env' | 'transport' | 'files'> & {
  plugins(skills: SkillSource): readonly Plugin[];
  /** Skills of the folder. */
  fileSkills: SkillSet;
  providers: readonly Provider[];
  subAgents: SubAgents;
  remoteAgents?: RemoteAgents | undefined;
};

export type SnapshotInput = {
  resolution_id: string;
  parts: readonly Part[];
  mcpServers: readonly string[];
  budgets: readonly BudgetSpec[];
  discovered: ModelsInput['discovered'];
  versionOf: RegistryInput['versionOf'];
  previous: Snapshot | undefined;
};

export const createSnapshot = (
  { plugins: pluginsFor, fileSkills, ...deps }: SnapshotDeps,
  { resolution_id, parts, mcpServers, budgets, discovered, versionOf, previous }: SnapshotInput,
): Snapshot => {
  const records: Records = {
    providers: entriesOf(parts, 'provider'),
    models: entriesOf(parts, 'model'),
    model_pools: entriesOf(parts, 'model_pool'),
    agents: entriesOf(parts, 'agent'),
  };
  const managed = entriesOf(parts, 'skill');
  const skills = withFolders(managed, fileSkills.skills);
  const plugins = pluginsFor(createSkillSource(() => ({ skills, broken: fileSkills.broken })));
  const tools = entriesOf(parts, 'tool');
  let pluginTools: readonly ToolDescriptor[] | undefined;
  let pluginToolIds: ReadonlySet<string> | undefined;
  const toolsOfPlugins = (): readonly ToolDescriptor[] => {
    pluginTools ??= plugins.flatMap(toolsOfPlugin);
    return pluginTools;
  };
  const isPluginTool = (id: string): boolean => {
    pluginToolIds ??= new Set(toolsOfPlugins().map((tool) => tool.id));
    return pluginToolIds.has(id);
  };
  const registry = createRegistry({
    ...deps,
    ...(discovered && { discovered }),
    records: { ...records, skills: managed.map(({ spec }) => spec) },
    catalogue: createCatalogue(tools),
    plugins,
    mcpServers,
    isTool: (id) => isPluginTool(id) || isDelegateTool(id, registry),
    resolution_id,
    versionOf,
    previous: previous?.registry,
  });
  return {
    resolution_id,
    parts,
    records,
    registry,
    skills,
    mcpServers,
    budgets,
    plugins,
    tools,
    pluginTools: toolsOfPlugins,
  };
};

/** A skill that is equal to one of the folder also has its files; otherwise an entry takes precedence over a folder. */
const withFolders = (managed: readonly Skill[], files: readonly Skill[]): Skill[] => {
  const byId = new Map(files.map((skill) => [skill.spec.id, skill]));
  const entries = managed.map((skill) => {
    const file = byId.get(skill.spec.id);
    return file?.revision === skill.revision ? file : skill;
  });
  const taken = new Set(managed.map(({ spec }) => spec.id));
  return [...entries, ...files.filter(({ spec }) => !taken.has(spec.id))];
};

const DELEGATE = 'agent_run_';

const isDelegateTool = (id: string, registry: Pick<Registry, 'spec'>): boolean =>
  id.startsWith(DELEGATE) && registry.spec(id.slice(DELEGATE.length)) !== undefined;

/** Returns a tool of the catalog, or of a plugin as an agent without settings has it. */
export const findTool = ({ tools, plugins }: Pick<Snapshot, 'tools' | 'plugins'>, id: string) => {
  const isIt = ({ descriptor }: Tool): boolean => descriptor.id === id;
  return (
    tools.find(isIt) ?? plugins.flatMap(usualTools).find(isIt) ?? plugins.flatMap(offeredTools).find(isIt)
  );
};

/** Tools that a plugin adds only to agents with certain settings. */
const offeredTools = ({ offers = [] }: Plugin): Tool[] =>
  offers.map((descriptor) => ({
    ...clientToolOf(descriptor),
    needsRun: 'its plugin creates it for the tools of an agent',
  }));

/** Returns the declared tools of a plugin, or else those that an agent without settings would have. */
export const toolsOfPlugin = (plugin: Plugin): readonly ToolDescriptor[] =>
  plugin.offers ?? usualTools(plugin).map(({ descriptor }) => descriptor);

const usualTools = (plugin: Plugin): readonly Tool[] => {
  try {
    const agent = AgentSpec.parse({ id: 'probe', plugin_ids: [plugin.id] });
    return plugin.parts({ agent, tools: [] }).tools ?? [];
  } catch {
    // A plugin that requires a section cannot list its tools without one.
    return [];
  }
};
