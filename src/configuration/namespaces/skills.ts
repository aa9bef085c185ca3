import { ManagedSkill, managedSkill } from '../../plugins/skills/skill.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN } from './namespace.ts';

/**
 * Implements config.md 3.8. Entries are stored and returned in canonical form. Seeded records may have overrides, but
 * no route sets them.
 */
export const skillsNamespace: Namespace = {
  ...PLAIN,
  name: 'skills',
  schema: entrySchema('Skill', ManagedSkill),
  check: (spec) => canonical(spec),
  effective: (base, overrides = {}) =>
    Object.keys(overrides).length === 0 ? base : canonical({ ...base, ...overrides, id: base.id ?? null }),
};

/** Null clears a text, as in a complete spec. A canonical skill is JSON. */
const canonical = (spec: JsonObject): JsonObject => managedSkill(spec).spec as JsonObject;
