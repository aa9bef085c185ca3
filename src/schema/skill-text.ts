/**
 * The text of a skill for a model (agent-loop.md 14.3): its entry in the list of skills, and its instructions while it
 * is active. Texts are escaped, so that no description can end its element or begin another one.
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

/** Instructions are not escaped: their author may use elements in them. */
export const activeSkills = (active: readonly { id: string; instructions: string }[]): string =>
  [
    '<active_skill_instructions>',
    ...active.map(
      ({ id, instructions }) =>
        `<skill_instruction skill="${escapeXml(id)}">\n${instructions}\n</skill_instruction>`,
    ),
    '</active_skill_instructions>',
  ].join('\n');
