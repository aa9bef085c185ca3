import { z } from 'zod';
import { activeSkills } from '../../schema/skill-text.ts';
import { update } from '../../tools/state.ts';
import { definePlugin, parseConfig } from '../define.ts';
import { permissionOverrides } from '../permission/state.ts';
import type { Plugin, Section } from '../plugin.ts';
import { renderCatalog } from './catalog.ts';
import { restrictedTo, type SkillSource } from './source.ts';
import { type Activation, createSkillsState, skillsState } from './state.ts';
import { createSkillTools } from './tools.ts';

/**
 * Skills for agents (agent-loop.md 14.3), in two plugins: `skills-discovery` lists the skills and has the tools,
 * `skills-active-instructions` adds the instructions of activated skills to each request. Both consider only the skills
 * that the section of the agent allows, even if another agent of the same thread has activated more.
 */

const SCRIPT_TIMEOUT_MS = 60_000;

const list = z.array(z.string()).nullish();

type SkillsConfig = { allowlist: string[] | null };

const section: Section<SkillsConfig> = {
  key: 'skills',
  schema: z
    .strictObject({
      allowlist: list.meta({ description: 'ids of the skills that the agent may use; null = all' }),
      ids: list.meta({ description: 'alias of allowlist' }),
    })
    .refine(({ allowlist, ids }) => allowlist === undefined || ids === undefined, {
      message: "'ids' is another name of 'allowlist': give one of them",
    })
    .transform(({ allowlist, ids }) => ({ allowlist: allowlist ?? ids ?? null })),
  display_name: 'Skills',
  category: 'context',
  default_value: {},
};

export const createSkillsPlugins = (
  source: SkillSource,
  { scriptTimeoutMs = SCRIPT_TIMEOUT_MS }: { scriptTimeoutMs?: number } = {},
): Plugin[] => [discovery(source, scriptTimeoutMs), activeInstructions(source)];

const DISCOVERY = 'skills-discovery';

const discovery = (source: SkillSource, scriptTimeoutMs: number): Plugin =>
  definePlugin({
    id: DISCOVERY,
    section,
    state: [skillsState, permissionOverrides],
    create: ({ allowlist }, { agent, tools }) => {
      const skills = restrictedTo(source, allowlist);
      return {
        tools: createSkillTools({ skills, agent, tools, scriptTimeoutMs }),
        hooks: {
          before_inference: () => {
            const content = renderCatalog(skills.list());
            return content === undefined ? undefined : message('skill_catalog', 'system', content);
          },
        },
      };
    },
  });

const activeInstructions = (source: SkillSource): Plugin =>
  definePlugin({
    id: 'skills-active-instructions',
    state: [skillsState],
    create: (_, { agent }) => {
      const { allowlist } = parseConfig(DISCOVERY, section, agent.sections[section.key]);
      const allowed = restrictedTo(source, allowlist);
      return {
        hooks: {
          before_inference: ({ state }) => {
            const activations = state.get(skillsState)?.activations ?? [];
            const current = activations.filter((activation) => isCurrent(source, activation));
            const shown = current.filter((activation) => isCurrent(allowed, activation));
            const dropped = current.length < activations.length;
            return {
              ...(dropped && { state: [update(skillsState, createSkillsState(current))] }),
              ...(shown.length > 0 &&
                message('active_skill_instructions', 'suffix_system', instructionsOf(shown))),
            };
          },
        },
      };
    },
  });

const message = (key: string, target: 'system' | 'suffix_system', content: string) => ({
  actions: [{ key: 'runtime.add_context_message', payload: { key, target, content } } as const],
});

/** False for a skill that was edited, deleted or broken since its activation: its stored instructions are outdated. */
const isCurrent = (source: SkillSource, { skill_id, revision }: Activation): boolean => {
  const skill = source.get(skill_id);
  return skill !== undefined && 'revision' in skill && skill.revision === revision;
};

const instructionsOf = (activations: readonly Activation[]): string =>
  activeSkills(activations.map(({ skill_id, instructions }) => ({ id: skill_id, instructions })));
