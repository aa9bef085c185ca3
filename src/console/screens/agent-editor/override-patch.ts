import type { JsonObject } from '../../data/guard.ts';
import { same, sectionsOf } from '../../data/spec.ts';
import { changedFields, isLocal, meaningOf } from './draft.ts';

/** The overrides that turn a built-in agent into the edited one, limited to the differences (config.md 5.1). */

/** Fields that no override holds, and that a draft cannot change. */
export const FIXED = ['id', 'created_at', 'updated_at', 'registry', 'endpoint'];

const BY_BACKEND = ['model_id', 'system_prompt', 'max_rounds'];

const sectionsPatch = (stored: JsonObject, draft: JsonObject): JsonObject => {
  const [before, after] = [sectionsOf(stored), sectionsOf(draft)];
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!(key in after)) patch[key] = null;
    else if (!same(before[key], after[key])) patch[key] = after[key];
  }
  return patch;
};

const isBase = (base: JsonObject, draft: JsonObject, field: string): boolean =>
  same(meaningOf({ ...draft, [field]: base[field] }, field), meaningOf(draft, field));

/** The changed fields that overrides can hold. A remote backend has no model. */
const patchedFields = (stored: JsonObject, draft: JsonObject, localKind: string): string[] => {
  const changed = changedFields(stored, draft);
  const isRemote = changed.includes('backend') && !isLocal(draft, localKind);
  return changed.filter((field) => !FIXED.includes(field) && !(isRemote && BY_BACKEND.includes(field)));
};

/** The value that empties a field. The service rejects an empty list of stop sequences. */
const emptied = (before: unknown, field: string): unknown =>
  Array.isArray(before) && field !== 'stop' ? [] : null;

/**
 * The body of `PATCH …/overrides`, empty if there is nothing to send.
 * @param parts.base values of the overridden fields without their overrides
 */
export const patchOf = (parts: {
  stored: JsonObject;
  draft: JsonObject;
  base: JsonObject;
  overrides: JsonObject;
  localKind: string;
}): JsonObject => {
  const { stored, draft, base, overrides } = parts;
  const patch: JsonObject = {};
  const clear: string[] = [];
  for (const field of patchedFields(stored, draft, parts.localKind)) {
    if (field in overrides && isBase(base, draft, field)) clear.push(field);
    else if (field === 'sections') patch.sections = sectionsPatch(stored, draft);
    else patch[field] = draft[field] ?? (field in draft ? null : emptied(stored[field], field));
  }
  if ('backend' in patch && 'endpoint' in overrides) clear.push('endpoint');
  return clear.length > 0 ? { ...patch, _clear: clear } : patch;
};
