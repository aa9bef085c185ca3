import { isObject, type JsonObject } from '../../data/guard.ts';
import { type Draft, sectionsOf } from '../../data/spec.ts';
import { withFields as entryWithFields, changedFields as fieldsThatDiffer } from '../../entry/entry.ts';

/** Drafts of agents: initial values, changes and comparison. */

/** Fields that the configuration of a local backend repeats. */
const MIRRORED = ['model_id', 'system_prompt', 'max_rounds'] as const;

export const newDraft = (localKind: string): Draft => ({
  id: '',
  backend: { kind: localKind, version: 1, config: { model_id: '', system_prompt: '', max_rounds: 16 } },
  model_id: '',
  system_prompt: '',
  max_rounds: 16,
  max_continuation_retries: 2,
  plugin_ids: [],
  sections: {},
  delegates: [],
});

/** Whether the agent runs in this service, with a model. */
export const isLocal = (spec: JsonObject, localKind: string): boolean =>
  !isObject(spec.endpoint) && (!isObject(spec.backend) || spec.backend.kind === localKind);

/** The A2A server where the agent was discovered; undefined for an endpoint that an operator entered. */
export const discoveredAt = (spec: JsonObject): string | undefined => {
  const { endpoint } = spec;
  const options = isObject(endpoint) && endpoint.backend === 'a2a' ? endpoint.options : undefined;
  const id = isObject(options) ? options.a2a_server_id : undefined;
  return typeof id === 'string' && id.trim() !== '' ? id : undefined;
};

const configOf = (spec: JsonObject): JsonObject =>
  isObject(spec.backend) && isObject(spec.backend.config) ? spec.backend.config : {};

/** Copies the mirrored fields into the configuration of a local backend; a remote agent has no model and no prompt. */
export const mirrored = (spec: Draft, localKind: string): Draft => {
  if (!isLocal(spec, localKind)) return { ...spec, model_id: '', system_prompt: '' };
  const config = { ...configOf(spec) };
  for (const field of MIRRORED) config[field] = spec[field];
  const backend = isObject(spec.backend) ? spec.backend : { kind: localKind, version: 1 };
  return { ...spec, backend: { ...backend, config } };
};

/** The draft with the given fields replaced; undefined fields are removed. */
export const withFields = (draft: Draft, fields: JsonObject, localKind: string): Draft =>
  mirrored(entryWithFields(draft, fields), localKind);

/** Fields that no override holds, and that neither a draft nor a copy takes over. */
export const FIXED = ['id', 'created_at', 'updated_at', 'registry', 'endpoint'];

/** The fields that a new agent copies from another one. */
export const copyOf = (spec: JsonObject, localKind: string): Draft => {
  const kept = Object.entries(spec).filter(
    ([key]) => !FIXED.includes(key) && (key !== 'backend' || isLocal(spec, localKind)),
  );
  return mirrored({ ...newDraft(localKind), ...Object.fromEntries(kept), id: '' }, localKind);
};

/** In these fields null is a value: no tools. */
const TELLING_NULLS = ['allowed_tools', 'allowed_tool_patterns'];

/** The draft without null in other fields, where it means that they are unset. */
export const setFields = (draft: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(draft).filter(([field, value]) => value !== null || TELLING_NULLS.includes(field)),
  );

const isNone = (field: string, value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (field === 'sections' && isObject(value) && Object.keys(value).length === 0);

/** The value of a field for comparison; undefined if it is unset. */
export const meaningOf = (spec: JsonObject, field: string): unknown => {
  if (field === 'backend') return backendOf(spec);
  const value = spec[field];
  return isNone(field, value) && !TELLING_NULLS.includes(field) ? undefined : value;
};

/** The backend without the fields that repeat those of the spec, which take precedence. */
const backendOf = ({ backend }: JsonObject): unknown => {
  if (!isObject(backend)) return undefined;
  const config = isObject(backend.config) ? backend.config : {};
  const own = Object.entries(config).filter(([key]) => !MIRRORED.some((field) => field === key));
  return { ...backend, config: Object.fromEntries(own) };
};

/** Top-level fields that differ. */
export const changedFields = (before: JsonObject, after: JsonObject): string[] =>
  fieldsThatDiffer(before, after, meaningOf);

/** The texts of a list; other items are left out. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** Replaces or removes one section. */
export const withSection = (spec: JsonObject, key: string, section: JsonObject | undefined): JsonObject => {
  const { [key]: _, ...others } = sectionsOf(spec);
  return { sections: section === undefined ? others : { ...others, [key]: section } };
};
