import {
  anyObject,
  flag,
  type Guarded,
  isObject,
  list,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';

/** Instructions that agents take up when they need them. */

export const Skill = object({
  id: text,
  name: text,
  description: withDefault(text, ''),
  when_to_use: withDefault(text, ''),
  allowed_tools: withDefault(list(text), []),
  paths: withDefault(list(text), []),
  user_invocable: withDefault(flag, true),
  model_invocable: withDefault(flag, true),
  context: withDefault(text, 'inline'),
});
export type Skill = Guarded<typeof Skill>;

export const AgentSkills = object({
  id: text,
  plugin_ids: optional(list(text)),
  sections: optional(anyObject),
});
export type AgentSkills = Guarded<typeof AgentSkills>;

/** By whom it is used: a user, a model, either, or only by other parts of the service. */
export type Caller = 'both' | 'user' | 'model' | 'internal';

export const callerOf = ({ user_invocable: user, model_invocable: model }: Skill): Caller => {
  if (user && model) return 'both';
  if (user) return 'user';
  return model ? 'model' : 'internal';
};

/** Whether it is among those that somebody who looks for a caller wants. */
export const isCalledBy = (skill: Skill, wanted: string): boolean => {
  if (wanted === 'user') return skill.user_invocable;
  if (wanted === 'model') return skill.model_invocable;
  return callerOf(skill) === wanted;
};

const DISCOVERY = 'skills-discovery';

/** Agents that find skills, and may have this one. */
export const usersOf = (agents: readonly AgentSkills[], id: string): string[] =>
  agents
    .filter(({ plugin_ids: plugins, sections }) => {
      if (!plugins?.includes(DISCOVERY)) return false;
      const skills = sections?.skills;
      const allowed = isObject(skills) ? (skills.allowlist ?? skills.ids) : undefined;
      return !Array.isArray(allowed) || allowed.includes(id);
    })
    .map((agent) => agent.id);

export const NEW_SKILL = { id: '', name: '', description: '', instructions_md: '' };

// ---- what the service refuses ----

const SAID: readonly [pattern: RegExp, field: string][] = [
  [/allowed_tools/, 'allowed_tools'],
  [/argument name/, 'arguments'],
  [/^paths /, 'paths'],
  [/already exists/, 'id'],
];

const PREFIX = /^(invalid payload: |invalid skill spec: |registry validation failed: |conflict: )+/;

/** By field; what names none is under the empty one. */
export const refusedFields = (message: string): ReadonlyMap<string, string> => {
  const errors = new Map<string, string>();
  for (const said of message.replace(PREFIX, '').split('; ')) {
    const named = /field '([^']+)'/.exec(said)?.[1];
    const field = named ?? SAID.find(([pattern]) => pattern.test(said))?.[1] ?? '';
    errors.set(field, errors.has(field) ? `${errors.get(field)}; ${said}` : said);
  }
  return errors;
};
