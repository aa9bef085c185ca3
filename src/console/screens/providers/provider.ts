import {
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { allOf, count, jsonObject, required, webAddress } from '../../entry/checks.ts';
import { type EntryKind, type Errors, objectOf, type Spec, textOf } from '../../entry/entry.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

export const PROVIDER: EntryKind = { namespace: 'providers', entity: 'entity.provider' };

const Provider = object({
  id: text,
  adapter: text,
  base_url: optional(text),
  has_api_key: withDefault(flag, false),
});
export type Provider = Guarded<typeof Provider>;

export const PROVIDERS = recordsOf('providers', Provider);

export const TestResult = object({
  ok: flag,
  latency_ms: number,
  network_tested: flag,
  error: optional(text),
});
export type TestResult = Guarded<typeof TestResult>;

/** For services that do not say which they have. */
export const USUAL_ADAPTERS = ['anthropic', 'openai', 'gemini', 'ollama'];

const AdapterOption = object({ name: text, is_secret: flag, choices: optional(list(text)) });
export type AdapterOption = Guarded<typeof AdapterOption>;

const AdapterDefault = object({
  base_url: optional(text),
  key_variable: optional(text),
  docs_url: optional(text),
  options: withDefault(list(AdapterOption), []),
});
export type AdapterDefault = Guarded<typeof AdapterDefault>;

/** What an adapter does by itself, as the service tells it. */
export const defaultOf = (defaults: JsonObject, adapter: string): AdapterDefault | undefined =>
  isObject(defaults[adapter]) ? AdapterDefault(defaults[adapter], adapter) : undefined;

export const isVertex = ({ adapter }: JsonObject): boolean => adapter === 'vertex';

export const isAccount = (draft: JsonObject): boolean =>
  isVertex(draft) && objectOf(draft.adapter_options).credentials_kind === 'service_account_json';

const accountErrors = (draft: Spec): [string, string][] => {
  const key = textOf(draft.api_key);
  if (!isAccount(draft) || key === '') return [];
  try {
    const account: unknown = JSON.parse(key);
    if (isObject(account) && textOf(account.client_email) && textOf(account.private_key)) return [];
  } catch {
    // Said below.
  }
  return [['api_key', say(texts, 'problem.account')]];
};

export const FIELDS = ['adapter', 'base_url', 'timeout_secs', 'api_key', 'adapter_options'];

export const check = (draft: Spec): Errors =>
  allOf(
    required('adapter'),
    webAddress('base_url'),
    count('timeout_secs', 1),
    jsonObject('adapter_options'),
    () => accountErrors(draft),
  )(draft);

/** What the service said of a stored key is no part of the entry. */
export const bodyOf = ({ has_api_key: _, ...spec }: JsonObject): JsonObject => spec;

/** Options of every adapter that have a field. */
const COMMON_OPTIONS = ['credentials_kind', 'headers'];

const optionsWhere = (draft: JsonObject, isWanted: (key: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(objectOf(draft.adapter_options)).filter(([key]) => isWanted(key)));

/** Options without a field. `fields`: those that the adapter has one for. */
export const otherOptions = (draft: JsonObject, fields: readonly string[] = []): JsonObject =>
  optionsWhere(draft, (key) => !COMMON_OPTIONS.includes(key) && !fields.includes(key));

export const fieldOptions = (draft: JsonObject, fields: readonly string[] = []): JsonObject =>
  optionsWhere(draft, (key) => COMMON_OPTIONS.includes(key) || fields.includes(key));

/** With these options put in place of the same; an empty one is taken out. */
export const withOptions = (draft: JsonObject, options: JsonObject): JsonObject => {
  const next = Object.entries({ ...objectOf(draft.adapter_options), ...options }).filter(
    ([, value]) => value !== undefined && !(isObject(value) && Object.keys(value).length === 0),
  );
  return { adapter_options: next.length === 0 ? undefined : Object.fromEntries(next) };
};

export const headersOf = (draft: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(objectOf(draft.adapter_options).headers)).map(([name, value]) => [
      name,
      String(value),
    ]),
  );
