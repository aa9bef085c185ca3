import { readSkillFolder } from '../plugins/skills/file-skills.ts';
import { managedSkill } from '../plugins/skills/skill.ts';
import type { SkillSet } from '../plugins/skills/source.ts';

/** The initial skills of the service (agent-loop.md 18.2): those of the folder, and `greeting`. */

const greeting = managedSkill({
  id: 'greeting',
  name: 'greeting',
  description: 'Adds friendly greeting behavior',
  instructions_md: 'Begin with a warm greeting, by name where you know it, and offer to help.',
});

/** @throws Invalid when the folder cannot be read */
export const seedSkills = async (folder: string): Promise<SkillSet> => {
  const { skills, broken } = await readSkillFolder(folder);
  // The first of two with the same id counts, so a folder may replace the greeting.
  return { skills: [...skills, greeting], broken };
};
