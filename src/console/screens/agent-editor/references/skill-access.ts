import type { JsonObject } from '../../../data/guard.ts';
import { sectionOf } from '../../../data/spec.ts';
import { textsOf } from '../draft.ts';
import { fieldsOf, selectionOf, verdictsOf } from '../tools/selection.ts';

/** The skills that an agent may use, and the tools that it needs for them. */

export const DISCOVERY = 'skills-discovery';
export const INSTRUCTIONS = 'skills-active-instructions';

/** Tools with which a model uses skills. */
export const SKILL_TOOLS = ['skill', 'load_skill_resource', 'skill_script'] as const;

/** Undefined if all skills are allowed. */
export const allowlistOf = (spec: JsonObject): string[] | undefined => {
  const { allowlist, ids } = sectionOf(spec, 'skills');
  const list = allowlist ?? ids;
  return Array.isArray(list) ? textsOf(list) : undefined;
};

/** The section with this list; undefined if it would be empty. */
export const skillsSection = (spec: JsonObject, allowlist: readonly string[] | undefined) => {
  const { allowlist: _, ids: __, ...others } = sectionOf(spec, 'skills');
  const section = allowlist === undefined ? others : { ...others, allowlist };
  return Object.keys(section).length > 0 ? section : undefined;
};

/** Existing skill tools that are hidden from the agent. */
export const hiddenSkillTools = (spec: JsonObject, tools: readonly string[]): string[] => {
  const known = SKILL_TOOLS.filter((id) => tools.includes(id));
  return verdictsOf(spec, known).flatMap(({ id, isVisible }) => (isVisible ? [] : [id]));
};

/** Allows the tools by name and removes them from the excluded names. */
export const withSkillTools = (spec: JsonObject, ids: readonly string[]): JsonObject => {
  const [allowed, excluded] = [selectionOf(spec, 'allowed'), selectionOf(spec, 'excluded')];
  return {
    ...fieldsOf('allowed', { ...allowed, names: [...new Set([...allowed.names, ...ids])] }),
    ...fieldsOf('excluded', { ...excluded, names: excluded.names.filter((id) => !ids.includes(id)) }),
  };
};
