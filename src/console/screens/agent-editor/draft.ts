import { isObject, type JsonObject } from '../../data/guard.ts';
import { same, sectionsOf } from '../../data/spec.ts';
import { SETTINGS } from '../../model-settings/settings.ts';
import type { Draft } from './panel.ts';

/** An agent while it is edited: how it starts, how a change is made to it, and when it differs from another. */

/** What a local backend says again in its configuration. */
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

/** It runs in this service, with a model. */
export const isLocal = (spec: JsonObject, localKind: string): boolean =>
  !isObject(spec.endpoint) && (!isObject(spec.backend) || spec.backend.kind === localKind);

/** The service of remote agents that it was found at; undefined where somebody has written it. */
export const discoveredAt = (spec: JsonObject): string | undefined => {
  const { endpoint } = spec;
  const options = isObject(endpoint) && endpoint.backend === 'a2a' ? endpoint.options : undefined;
  const id = isObject(options) ? options.a2a_server_id : undefined;
  return typeof id === 'string' && id.trim() !== '' ? id : undefined;
};

const configOf = (spec: JsonObject): JsonObject =>
  isObject(spec.backend) && isObject(spec.backend.config) ? spec.backend.config : {};

/** A local backend repeats some fields; elsewhere they are nobody's. */
const mirrored = (spec: Draft, localKind: string): Draft => {
  if (!isLocal(spec, localKind)) return { ...spec, model_id: '', system_prompt: '' };
  const config = { ...configOf(spec) };
  for (const field of MIRRORED) config[field] = spec[field];
  const backend = isObject(spec.backend) ? spec.backend : { kind: localKind, version: 1 };
  return { ...spec, backend: { ...backend, config } };
};

/** The fields given replace those of the draft; one that is undefined is taken out of it. */
export const withFields = (draft: Draft, fields: JsonObject, localKind: string): Draft => {
  const next = { ...draft, ...fields };
  const kept = Object.entries(next).filter(([, value]) => value !== undefined);
  return mirrored({ ...Object.fromEntries(kept), id: next.id }, localKind);
};

const NOT_COPIED = ['id', 'created_at', 'updated_at', 'registry', 'endpoint'];

/** What a new agent takes over from another. */
export const copyOf = (spec: JsonObject, localKind: string): Draft => {
  const kept = Object.entries(spec).filter(
    ([key]) => !NOT_COPIED.includes(key) && (key !== 'backend' || isLocal(spec, localKind)),
  );
  return mirrored({ ...newDraft(localKind), ...Object.fromEntries(kept), id: '' }, localKind);
};

/** Fields for which null says as much as nothing. */
const NULLABLE: readonly string[] = ['description', 'context_policy', ...SETTINGS, 'endpoint'];
const EMPTY_IS_NONE = [
  'provider_tools',
  'stop_conditions',
  'active_hook_filter',
  'delegates',
  'plugin_ids',
  'excluded_tools',
  'excluded_tool_patterns',
  'sections',
];

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** A field as it is compared: undefined where it says nothing. */
export const meaningOf = (spec: JsonObject, field: string): unknown => {
  const value = spec[field];
  if (field === 'backend') return backendOf(spec);
  if (NULLABLE.includes(field)) return value === null || value === '' ? undefined : value;
  return EMPTY_IS_NONE.includes(field) && isEmpty(value) ? undefined : value;
};

/** Without what the spec itself says: where the two differ, the spec counts. */
const backendOf = ({ backend }: JsonObject): unknown => {
  if (!isObject(backend)) return undefined;
  const config = isObject(backend.config) ? backend.config : {};
  const own = Object.entries(config).filter(([key]) => !MIRRORED.some((field) => field === key));
  return { ...backend, config: Object.fromEntries(own) };
};

/** Top-level fields in which two differ. */
export const changedFields = (before: JsonObject, after: JsonObject): string[] => {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !same(meaningOf(before, field), meaningOf(after, field)));
};

/** Texts of a list; anything else in it is left out. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** One section replaced, or taken out. */
export const withSection = (spec: JsonObject, key: string, section: JsonObject | undefined): JsonObject => {
  const { [key]: _, ...others } = sectionsOf(spec);
  return { sections: section === undefined ? others : { ...others, [key]: section } };
};
