import { isObject, type JsonObject } from '../../data/guard.ts';
import { same, sectionsOf } from '../../data/spec.ts';
import { SETTINGS } from '../../model-settings/settings.ts';
import { changedFields, isLocal, meaningOf } from './draft.ts';

/** What a built-in agent is given to become what its user wants: only what differs (config.md 5.1). */

export const PATCHABLE = [
  'description',
  'backend',
  'model_id',
  'system_prompt',
  'max_rounds',
  'max_continuation_retries',
  'provider_tools',
  'client_tools',
  'client_system_messages',
  'stop_conditions',
  'context_policy',
  ...SETTINGS,
  'output_schema',
  'output_options',
  'plugin_ids',
  'active_hook_filter',
  'sections',
  'allowed_tools',
  'allowed_tool_patterns',
  'excluded_tools',
  'excluded_tool_patterns',
  'delegates',
] as const;

/** Where nothing is an empty list; for all others it is null. */
const LISTS = ['provider_tools', 'stop_conditions', 'plugin_ids', 'active_hook_filter', 'delegates'];

const BY_BACKEND = ['model_id', 'system_prompt', 'max_rounds'];

/**
 * What is known of an agent without its overrides: fields that are not overridden are as they are stored. `before`: what
 * was known earlier, of fields that are overridden by now.
 */
export const baseOf = (stored: JsonObject, overrides: JsonObject, before: JsonObject = {}): JsonObject => {
  const base: JsonObject = {};
  for (const field of PATCHABLE) {
    if (!(field in overrides)) base[field] = stored[field];
    else if (field in before) base[field] = before[field];
  }
  return base;
};

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
  field in base && same(meaningOf({ ...draft, [field]: base[field] }, field), meaningOf(draft, field));

/**
 * The body of `PATCH …/overrides`; empty: there is nothing to send.
 * @param parts.base as `baseOf` gives it
 */
export const patchOf = (parts: {
  stored: JsonObject;
  draft: JsonObject;
  base: JsonObject;
  overrides: JsonObject;
  localKind: string;
}): JsonObject => {
  const { stored, draft, base, overrides } = parts;
  const changed = changedFields(stored, draft);
  // A remote backend has no model of its own.
  const isRemote = changed.includes('backend') && !isLocal(draft, parts.localKind);
  const patch: JsonObject = {};
  const clear: string[] = [];
  for (const field of PATCHABLE) {
    if (!changed.includes(field) || (isRemote && BY_BACKEND.includes(field))) continue;
    if (field in overrides && isBase(base, draft, field)) clear.push(field);
    else if (field === 'sections') patch.sections = sectionsPatch(stored, draft);
    else patch[field] = draft[field] ?? (LISTS.includes(field) ? [] : null);
  }
  if ('backend' in patch && 'endpoint' in overrides) clear.push('endpoint');
  return clear.length > 0 ? { ...patch, _clear: clear } : patch;
};

/** Fields that the user has set on a built-in agent. */
export const overriddenIn = (overrides: JsonObject | undefined): ReadonlySet<string> =>
  new Set(isObject(overrides) ? Object.keys(overrides) : []);
