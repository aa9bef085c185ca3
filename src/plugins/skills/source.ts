import type { Skill } from './skill.ts';

/** Where the skills of a process come from. It is asked anew each time, because configuration changes. */

/** A folder that is meant to be a skill and cannot be used. */
export type BrokenSkill = { id: string; problem: string };

export type SkillSet = { skills: readonly Skill[]; broken: readonly BrokenSkill[] };

export type SkillSource = {
  list(): readonly Skill[];
  get(id: string): Skill | BrokenSkill | undefined;
};

/** The skills that `read` answers now; the first of an id wins, and one that works over one that does not. */
export const createSkillSource = (read: () => SkillSet): SkillSource => ({
  list: () => {
    const byId = new Map<string, Skill>();
    for (const skill of read().skills) if (!byId.has(skill.spec.id)) byId.set(skill.spec.id, skill);
    return [...byId.values()];
  },
  get: (id) => {
    const { skills, broken } = read();
    return skills.find(({ spec }) => spec.id === id) ?? broken.find((skill) => skill.id === id);
  },
});

/** Without the skills that an agent may not see; null allows all. */
export const restrictedTo = (source: SkillSource, allowlist: readonly string[] | null): SkillSource => {
  if (allowlist === null) return source;
  const allowed = new Set(allowlist);
  return {
    list: () => source.list().filter(({ spec }) => allowed.has(spec.id)),
    get: (id) => (allowed.has(id) ? source.get(id) : undefined),
  };
};
