import type { Skill } from './skill.ts';

/** The source of the skills of a process. It is read on every use, because the configuration changes. */

/** A folder with a `SKILL.md` that is not usable. */
export type BrokenSkill = { id: string; problem: string };

export type SkillSet = { skills: readonly Skill[]; broken: readonly BrokenSkill[] };

export type SkillSource = {
  list(): readonly Skill[];
  get(id: string): Skill | BrokenSkill | undefined;
};

/** Combines the current skills of `read`: the first skill of an id wins, and a usable skill wins over a broken one. */
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

/** Restricts a source to the skills that an agent may use; null allows all. */
export const restrictedTo = (source: SkillSource, allowlist: readonly string[] | null): SkillSource => {
  if (allowlist === null) return source;
  const allowed = new Set(allowlist);
  return {
    list: () => source.list().filter(({ spec }) => allowed.has(spec.id)),
    get: (id) => (allowed.has(id) ? source.get(id) : undefined),
  };
};
