import {
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { objectOf, type Spec, textOf, withoutUndefined } from '../../entry/entry.ts';
import type { Found } from '../../entry/use-entry.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

const Provider = object({
  id: text,
  adapter: text,
  base_url: optional(text),
  has_api_key: withDefault(flag, false),
});
export type Provider = Guarded<typeof Provider>;

export const PROVIDERS = recordsOf('providers', Provider);

/** Used if the service does not list its adapters. */
export const USUAL_ADAPTERS = ['anthropic', 'openai', 'gemini', 'ollama'];

const AdapterDefault = object({
  base_url: optional(text),
  docs_url: optional(text),
  options: withDefault(list(object({ name: text, is_secret: flag, choices: optional(list(text)) })), []),
});
export type AdapterDefault = Guarded<typeof AdapterDefault>;

const UNKNOWN: AdapterDefault = { base_url: undefined, docs_url: undefined, options: [] };

/** The defaults of an adapter, as reported by the service. */
export const defaultOf = (defaults: JsonObject, adapter: string): AdapterDefault =>
  isObject(defaults[adapter]) ? AdapterDefault(defaults[adapter], adapter) : UNKNOWN;

export const isAccount = ({ adapter, adapter_options }: JsonObject): boolean =>
  adapter === 'vertex' && objectOf(adapter_options).credentials_kind === 'service_account_json';

const isAccountKey = (key: string): boolean => {
  try {
    const account: unknown = JSON.parse(key);
    return isObject(account) && textOf(account.client_email) !== '' && textOf(account.private_key) !== '';
  } catch {
    return false;
  }
};

export const check = (draft: Spec): Found[] => {
  const key = textOf(draft.api_key);
  return isAccount(draft) && key !== '' && !isAccountKey(key)
    ? [['api_key', say(texts, 'problem.account')]]
    : [];
};

/** The fields of `adapter_options` that an adapter has; `headers` and all others have separate inputs. */
export const optionSchema = (adapter: string, { options }: AdapterDefault): JsonObject => {
  const own = options.map(({ name, is_secret, choices }) => [
    name,
    { title: name, type: 'string', ...(choices && { enum: choices }), ...(is_secret && { writeOnly: true }) },
  ]);
  const credentials = { type: 'string', enum: ['service_account_json'] };
  const named = adapter === 'vertex' ? [['credentials_kind', credentials], ...own] : own;
  return { type: 'object', properties: Object.fromEntries(named) };
};

/** Divides options into those with an input, according to their schema, and all others. */
export const divided = (options: unknown, schema: JsonObject): { known: JsonObject; others: JsonObject } => {
  const entries = Object.entries(objectOf(options)).filter(([name]) => name !== 'headers');
  const isKnown = (name: string): boolean => name in objectOf(schema.properties);
  return {
    known: Object.fromEntries(entries.filter(([name]) => isKnown(name))),
    others: Object.fromEntries(entries.filter(([name]) => !isKnown(name))),
  };
};

/** Options without empty parts; undefined if none is left. */
export const optionsOf = (options: JsonObject): JsonObject | undefined => {
  const { headers, ...rest } = withoutUndefined(options);
  const whole = { ...rest, ...(Object.keys(objectOf(headers)).length > 0 && { headers }) };
  return Object.keys(whole).length === 0 ? undefined : whole;
};

export const headersOf = ({ headers }: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(objectOf(headers)).map(([name, value]) => [name, String(value)]));
