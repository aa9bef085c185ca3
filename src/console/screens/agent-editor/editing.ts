import type { JsonObject } from '../../data/guard.ts';
import { type SourceState, sourceState } from '../../data/meta.ts';
import { type Outgoing, pathOf } from '../../data/request.ts';
import { type Draft, same, sectionsOf } from '../../data/spec.ts';
import type { Opened } from '../../entry/entry.ts';
import { changedFields, FIXED, isLocal, meaningOf } from './draft.ts';

/**
 * The source of an opened agent, the overrides that turn a built-in agent into the edited one (config.md 5.1), and the
 * requests that save it.
 */

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

const overridesOf = ({ meta }: Pick<Opened, 'meta'>): JsonObject => meta?.user_overrides ?? {};

/** Undefined for a new agent. */
export const sourceOf = ({ meta, isNew }: Opened): SourceState | undefined =>
  isNew ? undefined : sourceState(meta);

/** Whether saving writes overrides, as for built-in agents, instead of the whole spec. */
export const isPatched = (opened: Opened): boolean =>
  ['builtin', 'customized'].includes(sourceOf(opened) ?? '');

export const overridePatch = (opened: Opened, draft: Draft, localKind: string): JsonObject =>
  patchOf({
    stored: opened.start,
    draft,
    base: opened.meta?.base ?? {},
    overrides: overridesOf(opened),
    localKind,
  });

/** The overridden fields of a built-in agent. */
export const overriddenIn = (opened: Opened): ReadonlySet<string> =>
  new Set(isPatched(opened) ? Object.keys(overridesOf(opened)) : []);

/** Saving a user-defined agent as a whole removes its overrides. */
export const dropsOverrides = (opened: Opened): boolean =>
  sourceOf(opened) === 'user' && Object.keys(overridesOf(opened)).length > 0;

/** @returns undefined if no override would change */
export const saveRequest = (opened: Opened, draft: Draft, localKind: string): Outgoing | undefined => {
  const path = pathOf`/v1/config/agents/${draft.id}`;
  if (opened.isNew) return { method: 'POST', path: '/v1/config/agents', body: draft };
  if (!isPatched(opened)) return { method: 'PUT', path, body: draft };
  const body = overridePatch(opened, draft, localKind);
  return Object.keys(body).length > 0 ? { method: 'PATCH', path: `${path}/overrides`, body } : undefined;
};

/** The request that validates the draft without storing it. */
export const validateRequest = (opened: Opened, draft: Draft, localKind: string): Outgoing => {
  if (isPatched(opened)) {
    const body = overridePatch(opened, draft, localKind);
    return { method: 'POST', path: pathOf`/v1/config/agents/${draft.id}/overrides`, body };
  }
  const query = opened.isNew ? undefined : { id: draft.id };
  return { method: 'POST', path: '/v1/config/agents/validate', ...(query && { query }), body: draft };
};
