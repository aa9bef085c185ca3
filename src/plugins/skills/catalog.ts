import { listedSkill } from '../../schema/skill-text.ts';
import type { Skill } from './skill.ts';

/**
 * The list of skills that the model receives in each step (agent-loop.md 14.3), of at most 32 skills and 16384
 * characters; the first skill is listed whatever its length, and a truncated list ends with a note. Texts of skills are
 * escaped, so that a description cannot close its element or open another one.
 */

const MAX_ENTRIES = 32;
const MAX_CHARACTERS = 16384;

/** Returns undefined if the model cannot invoke any skill. */
export const renderCatalog = (skills: readonly Skill[]): string | undefined => {
  const visible = skills.filter(({ spec }) => spec.model_invocable).sort(byId);
  if (visible.length === 0) return undefined;
  const shown = fitting(visible.slice(0, MAX_ENTRIES).map(({ spec }) => listedSkill(spec)));
  const cut = shown.length < visible.length;
  return [
    block(shown),
    ...(cut ? [`Only ${shown.length} of ${visible.length} skills are shown.`] : []),
    '<skills_usage>',
    ...usage(visible.slice(0, shown.length)),
    '</skills_usage>',
  ].join('\n');
};

// Sorted by code unit: the order must not depend on the locale of the process.
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
