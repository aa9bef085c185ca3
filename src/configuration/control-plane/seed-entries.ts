import { isExactTool } from '../../plugins/skills/allowed-tools.ts';
import { managedSkill } from '../../plugins/skills/skill.ts';
import type { SkillSet } from '../../plugins/skills/source.ts';
import { agentJson } from '../../schema/agent-json.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Records } from '../records.ts';
import { attempt } from '../unmet.ts';
import type { Seed } from './seeding.ts';
import { toolSpec } from './tool-parts.ts';

/**
 * Returns the built-in entries of the program: the seed, the entries of the settings file and of the embedding program,
 * its tools and its skills. An operator changes the settings file or overrides an entry; both are stored separately.
 */

export type ProgramEntries = {
  records: Records;
  tools: readonly Tool[];
  skills: SkillSet;
  /** Entries in their stored form. */
  mcpServers?: readonly (JsonObject & { id: string })[];
};

export const seedEntries = (
  { records, tools, skills, mcpServers = [] }: ProgramEntries,
  isTool: (id: string) => boolean,
): Seed['entries'] => [
  ...records.providers.map((spec) => entry('providers', spec)),
  ...records.models.map((spec) => entry('models', spec)),
  ...records.model_pools.map((spec) => entry('model-pools', spec)),
  ...records.agents.map((spec) => entry('agents', agentJson(spec))),
  ...mcpServers.map((spec) => entry('mcp-servers', spec)),
  ...tools.map((tool) => entry('tools', { ...toolSpec(tool), id: tool.descriptor.id })),
  ...managedSkills(skills, isTool).map((spec) => entry('skills', spec)),
];

type Entry = Seed['entries'][number];

const entry = (namespace: Entry['namespace'], spec: { id: string }): Entry => ({
  namespace,
  id: spec.id,
  // The form in which it will be read, without undefined members.
  spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
});

/**
 * Returns the skills of the folder that can be entries. Others (their tools have a scope, they apply to some paths
 * only, or they name missing tools) remain folder skills and are usable as such.
 */
const managedSkills = ({ skills }: SkillSet, isTool: (id: string) => boolean) => {
  const byId = new Map([...skills].reverse().map(({ spec }) => [spec.id, spec]));
  return [...byId.values()].filter(
    (spec) =>
      'result' in attempt(() => managedSkill(spec)) &&
      (spec.allowed_tools ?? []).every((token) => !isExactTool(token) || isTool(token)),
  );
};
