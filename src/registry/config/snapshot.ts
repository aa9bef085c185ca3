import type { Provider } from '../../models/model.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import type { Skill } from '../../plugins/skills/skill.ts';
import { createSkillSource, type SkillSet, type SkillSource } from '../../plugins/skills/source.ts';
import { AgentSpec } from '../../schema/agent.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { createCatalogue } from '../../tools/catalogue.ts';
import type { SubAgents } from '../../tools/sub-agent.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RemoteAgents } from '../agents.ts';
import type { ModelsInput } from '../models.ts';
import type { Records } from '../records.ts';
import { createRegistry, type Registry } from '../registry.ts';
import { entriesOf, type Part } from './parts.ts';

/**
 * One state of the configuration that runs can be resolved against. It never changes; everything that is not asked
 * for is not built, so that a snapshot of a write costs little more than a pass over its parts.
 */
export type Snapshot = {
  readonly resolution_id: string;
  readonly parts: readonly Part[];
  readonly records: Records;
  readonly registry: Registry;
  /** With those that are no entries. */
  readonly skills: readonly Skill[];
  readonly mcpServers: readonly string[];
  readonly plugins: readonly Plugin[];
  /** Of the catalogue. */
  readonly tools: readonly Tool[];
  /** Tools that plugins bring, whichever agent lists them. */
  pluginTools(): readonly ToolDescriptor[];
};

export type SnapshotDeps = Pick<ModelsInput, 'providers' | 'routes' | 'env' | 'transport'> & {
  plugins(skills: SkillSource): readonly Plugin[];
  /** Those of the folder. */
  fileSkills: SkillSet;
  providers: readonly Provider[];
  subAgents: SubAgents;
  remoteAgents?: RemoteAgents | undefined;
};

export type SnapshotInput = {
  resolution_id: string;
  parts: readonly Part[];
  mcpServers: readonly string[];
  discovered: ModelsInput['discovered'];
  previous: Snapshot | undefined;
};

export const createSnapshot = (
  { plugins: pluginsFor, fileSkills, ...deps }: SnapshotDeps,
  { resolution_id, parts, mcpServers, discovered, previous }: SnapshotInput,
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
    previous: previous?.registry,
  });
  return {
    resolution_id,
    parts,
    records,
    registry,
    skills,
    mcpServers,
    plugins,
    tools,
    pluginTools: toolsOfPlugins,
  };
};

/** A skill that a folder has word for word has the files of the folder too; an entry goes over a folder. */
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

/** Those that it offers, or else as an agent without settings would get them. */
export const toolsOfPlugin = (plugin: Plugin): readonly ToolDescriptor[] => {
  if (plugin.offers) return plugin.offers;
  try {
    const agent = AgentSpec.parse({ id: 'probe', plugin_ids: [plugin.id] });
    return (plugin.parts({ agent, tools: [] }).tools ?? []).map(({ descriptor }) => descriptor);
  } catch {
    // A plugin that needs a section tells nothing without one.
    return [];
  }
};
