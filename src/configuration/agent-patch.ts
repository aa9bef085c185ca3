import type { AgentInput, AgentSpec } from '../schema/agent.ts';
import { type AgentWriting, parseAgent } from '../schema/agent-json.ts';
import { LOCAL } from '../schema/backend.ts';
import { isObject, type JsonObject } from '../schema/endpoint.ts';
import { MODEL_SETTINGS, type ModelSetting } from '../schema/model-setting-names.ts';
import { Invalid } from '../schema/outcome.ts';
import { checkAgent } from './check.ts';

/**
 * Overrides of an agent (agent-loop.md 1.7, config.md 5.1) on top of its seeded or written spec. They are stored as one
 * object: a value replaces the base value, and null clears it where that is possible.
 */

const SURFACE = 'agent spec patch';

/** Null removes a setting of the agent, so that the setting of its model applies. */
// The keys are exactly these names.
const SETTINGS = Object.fromEntries(MODEL_SETTINGS.map((name) => [name, 'clears'])) as Record<
  ModelSetting,
  'clears'
>;

/** The effect of null: `clears` removes the value of the base, `takes back` removes the override. */
const PATCHABLE: Readonly<Record<string, 'clears' | 'takes back'>> = {
  description: 'clears',
  backend: 'takes back',
  model_id: 'takes back',
  system_prompt: 'takes back',
  max_rounds: 'takes back',
  max_continuation_retries: 'takes back',
  stop_conditions: 'takes back',
  context_policy: 'clears',
  plugin_ids: 'takes back',
  active_hook_filter: 'takes back',
  sections: 'takes back',
  allowed_tools: 'clears',
  allowed_tool_patterns: 'clears',
  excluded_tools: 'clears',
  excluded_tool_patterns: 'clears',
  delegates: 'takes back',
  provider_tools: 'takes back',
  client_tools: 'takes back',
  client_system_messages: 'takes back',
  output_schema: 'clears',
  output_options: 'clears',
  endpoint: 'clears',
  ...SETTINGS,
} satisfies Partial<Record<keyof AgentInput, 'clears' | 'takes back'>>;

export const isPatchable = (field: string): boolean => Object.hasOwn(PATCHABLE, field);

/**
 * Applies overrides to an agent.
 *
 * @throws Invalid `invalid agent spec patch: …`
 */
export const applyAgentPatch = (
  base: AgentSpec,
  overrides: unknown,
  writing: Pick<AgentWriting, 'localKind'> = {},
): AgentSpec => {
  const patch = patchOf(overrides);
  refuseBothPlaces(patch);
  const { sections, ...rest } = patch;
  const spec: JsonObject = { ...jsonOf(base), ...placeOf(patch, writing.localKind ?? LOCAL) };
  for (const [field, value] of Object.entries(rest)) {
    if (value !== null) spec[field] = value;
    else if (PATCHABLE[field] === 'clears') delete spec[field];
  }
  if (sections !== undefined && sections !== null) spec.sections = mergedSections(base.sections, sections);
  const parsed = parseAgent({ ...spec, ...allowFields(spec) }, { surface: SURFACE, ...writing });
  checkAgent(parsed, SURFACE);
  return parsed;
};

/**
 * Returns the overrides to store after a request that changes them.
 *
 * @param body fields to change, and `_clear`: names of overrides to remove first
 * @throws Invalid
 */
export const mergeOverrides = (base: AgentSpec, stored: JsonObject, body: unknown): JsonObject => {
  const { _clear: given, ...changes } = objectOf(body);
  const clear = clearedOf(given, changes);
  const patch = patchOf(changes);
  const merged = Object.fromEntries(Object.entries(stored).filter(([field]) => !clear.includes(field)));
  for (const [field, value] of Object.entries(patch)) {
    if (field === 'sections' && isObject(value)) mergeSections(base, merged, value);
    else if (value !== null || PATCHABLE[field] === 'clears') merged[field] = value;
    else delete merged[field];
  }
  refuseBothPlaces(merged);
  return merged;
};

const refused = (problem: string): Invalid => new Invalid(`invalid ${SURFACE}: ${problem}`);

const objectOf = (given: unknown): JsonObject => {
  if (!isObject(given)) throw refused('expected an object');
  // The agent schema validates the values in the resulting agent.
  return given as JsonObject;
};

const patchOf = (given: unknown): JsonObject => {
  const patch = objectOf(given);
  const unknown = Object.keys(patch).find((field) => !isPatchable(field));
  if (unknown !== undefined) throw refused(`unknown field '${unknown}'`);
  return patch;
};

const refuseBothPlaces = (patch: JsonObject): void => {
  if ('backend' in patch && 'endpoint' in patch) {
    throw refused('backend and endpoint cannot be patched in the same request');
  }
};

const clearedOf = (given: unknown, changes: JsonObject): string[] => {
  if (given === undefined) return [];
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string')) {
    throw refused('_clear must be an array of field-name strings');
  }
  for (const name of given) {
    if (!isPatchable(name)) {
      throw refused(`_clear contains unknown agent-spec field \`${name}\``);
    }
    if (Object.hasOwn(changes, name)) {
      throw refused(`field \`${name}\` appears in both the upsert body and \`_clear\``);
    }
  }
  return given;
};

/** A normalized spec is JSON. */
const jsonOf = (spec: AgentSpec): JsonObject => structuredClone(spec) as JsonObject;

/** A new backend replaces that of the base; a local one also replaces the fields in its config. */
const placeOf = ({ backend }: JsonObject, localKind: string): JsonObject => {
  if (!isObject(backend)) return {};
  const isLocal = backend.kind === LOCAL || backend.kind === localKind;
  const config = isLocal && isObject(backend.config) ? backend.config : {};
  const brought = ['model_id', 'system_prompt', 'max_rounds'].filter((field) => Object.hasOwn(config, field));
  return Object.fromEntries(['endpoint', ...brought].map((field) => [field, null]));
};

/** If both are cleared, the agent has no tools; it never falls back to the default. */
const allowFields = ({ allowed_tools: ids, allowed_tool_patterns: patterns }: JsonObject): JsonObject =>
  (ids ?? patterns ?? undefined) === undefined
    ? { allowed_tools: [], allowed_tool_patterns: [] }
    : { allowed_tools: ids ?? null, allowed_tool_patterns: patterns ?? null };

const mergedSections = (base: AgentSpec['sections'], changes: unknown): JsonObject => {
  if (!isObject(changes)) throw refused("field 'sections' must be an object");
  const merged = { ...base, ...objectOf(changes) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
};

/** A null for a section of the base is kept, because it marks the section as deleted. */
const mergeSections = (base: AgentSpec, overrides: JsonObject, changes: Record<string, unknown>): void => {
  const all = { ...(isObject(overrides.sections) && overrides.sections), ...changes };
  const kept = Object.entries(objectOf(all)).filter(
    ([key, value]) => value !== null || Object.hasOwn(base.sections, key),
  );
  if (kept.length > 0) overrides.sections = Object.fromEntries(kept);
  else delete overrides.sections;
};
