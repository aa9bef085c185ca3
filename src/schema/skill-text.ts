/**
 * What a model reads of a skill (agent-loop.md 14.3): its entry in the list of skills, and what it goes on seeing once
 * the skill is active. Texts of skills are escaped, so that no description can end its element or begin another one.
 */

export interface ListedSkill {
  id: string;
  name: string;
  description: string;
  when_to_use?: string | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const escapeXml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const describe = ({ id, name, description, when_to_use }: ListedSkill): string => {
  const named = name === id ? description : `${name}: ${description}`;
  return when_to_use ? `${named} — When: ${when_to_use}` : named;
};

export const listedSkill = (skill: ListedSkill): string =>
  [
    '<skill>',
    `<name>${escapeXml(skill.id)}</name>`,
    `<description>${escapeXml(describe(skill))}</description>`,
    '</skill>',
  ].join('\n');

/** Instructions stand as they are: their author may write elements of his own. */
export const activeSkills = (active: readonly { id: string; instructions: string }[]): string =>
  [
    '<active_skill_instructions>',
    ...active.map(
      ({ id, instructions }) =>
        `<skill_instruction skill="${escapeXml(id)}">\n${instructions}\n</skill_instruction>`,
    ),
    '</active_skill_instructions>',
  ].join('\n');
