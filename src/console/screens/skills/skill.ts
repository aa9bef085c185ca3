import { activeSkills, listedSkill } from '../../../schema/skill-text.ts';
import {
  anyObject,
  fields,
  flag,
  type Guarded,
  list,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { type Spec, textOf } from '../../entry/entry.ts';
import { allowlistOf, DISCOVERY } from '../agent-editor/references/references.ts';

/** Instructions that agents load when needed. */

const Skill = object({
  ...fields(text, 'id', 'name'),
  ...fields(withDefault(text, ''), 'description', 'when_to_use'),
  ...fields(withDefault(list(text), []), 'allowed_tools', 'paths'),
  ...fields(withDefault(flag, true), 'user_invocable', 'model_invocable'),
  context: withDefault(text, 'inline'),
});
export type Skill = Guarded<typeof Skill>;

export const SKILLS = recordsOf('skills', Skill);

const AgentSkills = object({
  id: text,
  plugin_ids: optional(list(text)),
  sections: optional(anyObject),
});

export const AGENTS = recordsOf('agents', AgentSkills);

/** The callers that may invoke the skill: users, models, both, or only other parts of the service. */
export type Caller = 'both' | 'user' | 'model' | 'internal';

export const callerOf = ({ user_invocable: user, model_invocable: model }: Skill): Caller => {
  if (user && model) return 'both';
  if (user) return 'user';
  return model ? 'model' : 'internal';
};

/** Whether the skill matches the filter for callers. */
export const isCalledBy = (skill: Skill, wanted: string): boolean => {
  if (wanted === 'user') return skill.user_invocable;
  if (wanted === 'model') return skill.model_invocable;
  return callerOf(skill) === wanted;
};

/** Agents that discover skills and may use this one. */
export const usersOf = (agents: readonly Guarded<typeof AgentSkills>[], id: string): string[] =>
  agents
    .filter((agent) => agent.plugin_ids?.includes(DISCOVERY) && (allowlistOf(agent)?.includes(id) ?? true))
    .map((agent) => agent.id);

/** The text in the list of skills; undefined if models do not see the skill. Fields may be missing during editing. */
export const listedText = (skill: Spec): string | undefined =>
  skill.model_invocable === false
    ? undefined
    : listedSkill({
        id: skill.id,
        name: textOf(skill.name),
        description: textOf(skill.description),
        when_to_use: textOf(skill.when_to_use),
      });

/** The text of an active skill. `${name}` stands for arguments that are provided on activation. */
export const activeText = (skill: Spec): string =>
  activeSkills([{ id: skill.id, instructions: textOf(skill.instructions_md) }]);
