import { anyObject, type JsonObject } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { AgentSkills, Skill } from './skill.ts';

export const SKILLS = recordsOf('skills', Skill);

/** What the service says a skill is made of. */
export const SCHEMA: Resource<JsonObject> = {
  path: '/v1/config/skills/$schema',
  guard: anyObject,
  off: SKILLS.off ?? { statuses: [404] },
};

export const AGENTS = recordsOf('agents', AgentSkills);
