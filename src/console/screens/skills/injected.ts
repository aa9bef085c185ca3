import { activeSkills, listedSkill } from '../../../schema/skill-text.ts';
import type { JsonObject } from '../../data/guard.ts';

/** The exact texts that a model gets of a skill that is being written: a field may be missing. */

const textAt = (skill: JsonObject, field: string): string => {
  const value = skill[field];
  return typeof value === 'string' ? value : '';
};

/** Undefined: models do not see it. */
export const listedText = (skill: JsonObject): string | undefined =>
  skill.model_invocable === false
    ? undefined
    : listedSkill({
        id: textAt(skill, 'id'),
        name: textAt(skill, 'name'),
        description: textAt(skill, 'description'),
        when_to_use: textAt(skill, 'when_to_use'),
      });

/** `${name}` stands for arguments, which come with an activation. */
export const activeText = (skill: JsonObject): string =>
  activeSkills([{ id: textAt(skill, 'id'), instructions: textAt(skill, 'instructions_md') }]);
