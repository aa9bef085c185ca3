import { createSkillsPlugins } from '../../../src/plugins/skills/plugin.ts';
import { managedSkill, type Skill } from '../../../src/plugins/skills/skill.ts';
import { type BrokenSkill, createSkillSource, type SkillSource } from '../../../src/plugins/skills/source.ts';
import { type Tool, ToolError } from '../../../src/tools/tool.ts';

export const greeting = {
  id: 'greeting',
  name: 'greeting',
  description: 'Adds friendly greeting behavior',
  instructions_md: 'Greet warmly and offer help.',
};

/** The greeting with other fields. */
export const skillWith = (fields: object = {}): Skill => managedSkill({ ...greeting, ...fields });

/** A source whose skills a test can replace. */
export const sourceOf = (
  skills: readonly Skill[],
  broken: readonly BrokenSkill[] = [],
): SkillSource & { replace(skills: readonly Skill[]): void } => {
  let now = skills;
  return {
    ...createSkillSource(() => ({ skills: now, broken })),
    replace: (next) => {
      now = next;
    },
  };
};

export const pluginsOf = (source: SkillSource, scriptTimeoutMs?: number) => {
  const [discovery, active] = createSkillsPlugins(source, { ...(scriptTimeoutMs && { scriptTimeoutMs }) });
  if (!discovery || !active) throw new Error('two plugins expected');
  return { discovery, active };
};

export const toolNamed = (tools: readonly Tool[] | undefined, id: string): Tool => {
  const tool = tools?.find(({ descriptor }) => descriptor.id === id);
  if (!tool) throw new Error(`no tool ${id}`);
  return tool;
};

/** Code and text of the expected failure. */
export const failureOf = async (
  work: () => unknown,
): Promise<[code: string | undefined, message: string]> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof ToolError) return [error.code, error.message];
    throw error;
  }
  throw new Error('did not fail');
};
