import type { JsonObject } from '../../../data/guard.ts';
import { sectionOf } from '../../../data/spec.ts';
import { textsOf } from '../draft.ts';
import { fieldsOf, selectionOf, verdictsOf } from '../tools/selection.ts';

/** Ids of delegates by agent. */
type Delegations = ReadonlyMap<string, readonly string[]>;

/** A cycle of delegations through the agent, which is its first and last id; undefined if there is none. */
export const cycleThrough = (
  agent: string,
  own: readonly string[],
  others: Delegations,
): string[] | undefined => {
  const seen = new Set<string>();
  const walk = (at: string, path: readonly string[]): string[] | undefined => {
    if (at === agent) return [agent, ...path, agent];
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const next of others.get(at) ?? []) {
      const found = walk(next, [...path, at]);
      if (found) return found;
    }
    return undefined;
  };
  for (const next of own) {
    const found = walk(next, []);
    if (found) return found;
  }
  return undefined;
};

// ---- Skills, and the tools that an agent needs for them ----

export const DISCOVERY = 'skills-discovery';
export const INSTRUCTIONS = 'skills-active-instructions';

/** Tools with which a model uses skills. */
const SKILL_TOOLS = ['skill', 'load_skill_resource', 'skill_script'] as const;

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
