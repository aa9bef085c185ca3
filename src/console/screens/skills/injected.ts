import type { JsonObject } from '../../data/guard.ts';

/** The exact texts that a model gets of a skill: its line in the list of skills, and what stays in view once it is active. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const textAt = (skill: JsonObject, field: string): string => {
  const value = skill[field];
  return typeof value === 'string' ? value : '';
};

/** Undefined: models do not see it. */
export const listedText = (skill: JsonObject): string | undefined => {
  if (skill.model_invocable === false) return undefined;
  const [id, name, said, when] = ['id', 'name', 'description', 'when_to_use'].map((field) =>
    textAt(skill, field),
  );
  const named = name === id ? said : `${name}: ${said}`;
  const described = when ? `${named} — When: ${when}` : named;
  return `<skill>\n<name>${escaped(id ?? '')}</name>\n<description>${escaped(described ?? '')}</description>\n</skill>`;
};

/** `${name}` stands for arguments, which come with an activation. */
export const activeText = (skill: JsonObject): string =>
  [
    '<active_skill_instructions>',
    `<skill_instruction skill="${escaped(textAt(skill, 'id'))}">`,
    textAt(skill, 'instructions_md'),
    '</skill_instruction>',
    '</active_skill_instructions>',
  ].join('\n');
