import type { Skill, SkillSpec } from './skill.ts';

/**
 * The list of skills that a model sees each step (agent-loop.md 14.3). At most 32 skills and 16384 characters;
 * the first is shown whatever its length, and a list that was cut says so. Texts of skills are escaped, so that
 * no description can end its element or begin another one.
 */

const MAX_ENTRIES = 32;
const MAX_CHARACTERS = 16384;

/** Undefined when there is nothing that the model may use. */
export const renderCatalog = (skills: readonly Skill[]): string | undefined => {
  const visible = skills.filter(({ spec }) => spec.model_invocable).sort(byId);
  if (visible.length === 0) return undefined;
  const shown = fitting(visible.slice(0, MAX_ENTRIES).map(({ spec }) => entry(spec)));
  const cut = shown.length < visible.length;
  return [
    block(shown),
    ...(cut ? [`Only ${shown.length} of ${visible.length} skills are shown.`] : []),
    '<skills_usage>',
    ...usage(visible.slice(0, shown.length)),
    '</skills_usage>',
  ].join('\n');
};

export const escapeXml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

// By code unit: the order must not depend on the locale of the process.
const byId = (a: Skill, b: Skill): number => (a.spec.id < b.spec.id ? -1 : Number(a.spec.id > b.spec.id));

const block = (entries: readonly string[]): string =>
  ['<available_skills>', ...entries, '</available_skills>'].join('\n');

const fitting = (entries: readonly string[]): string[] => {
  const shown: string[] = [];
  let length = block([]).length;
  for (const next of entries) {
    length += next.length + 1;
    if (shown.length > 0 && length > MAX_CHARACTERS) break;
    shown.push(next);
  }
  return shown;
};

const entry = (spec: SkillSpec): string =>
  [
    '<skill>',
    `<name>${escapeXml(spec.id)}</name>`,
    `<description>${escapeXml(describe(spec))}</description>`,
    '</skill>',
  ].join('\n');

const describe = ({ id, name, description, when_to_use }: SkillSpec): string => {
  const named = name === id ? description : `${name}: ${description}`;
  return when_to_use === undefined ? named : `${named} — When: ${when_to_use}`;
};

const usage = (shown: readonly Skill[]): string[] => [
  'When a skill fits the task, activate it first: call the `skill` tool with its name as "skill". Its instructions',
  'are then part of every following step. A skill with named arguments takes them as the object "arguments".',
  ...(shown.some(({ folder }) => folder?.resources)
    ? ['Read files of a skill under references/ and assets/ with the `load_skill_resource` tool.']
    : []),
  ...(shown.some(({ folder }) => folder?.scripts)
    ? ['Run scripts of a skill under scripts/ with the `skill_script` tool.']
    : []),
];
