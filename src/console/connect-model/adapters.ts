import {
  fields,
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';

/** The adapters of the service with their defaults. */

const Defaults = object({
  name: withDefault(text, ''),
  ...fields(optional(text), 'base_url', 'key_url', 'docs_url', 'variant_of'),
  ...fields(withDefault(flag, false), 'key_optional', 'lists_models_on_request'),
  options: withDefault(list(object({ name: text, is_secret: flag, choices: optional(list(text)) })), []),
});
export type Adapter = Guarded<typeof Defaults> & { id: string };

/** An adapter that the service does not describe has no defaults. */
export const adapterOf = (defaults: JsonObject, id: string): Adapter => ({
  ...Defaults(isObject(defaults[id]) ? defaults[id] : {}, id),
  id,
});

/** Shown first; all others follow on request. */
export const FEATURED = [
  ...['openai', 'anthropic', 'gemini', 'mistral', 'openrouter', 'groq', 'deepseek', 'xai'],
  ...['ollama', 'vllm', 'lmstudio', 'openai_compatible'],
];

/** The only adapter without a default address that needs no other option. */
export const ANY_SERVER = 'openai_compatible';

/** Whether a key and an address are enough for a provider. */
const isSimple = ({ id, name, base_url, variant_of }: Adapter): boolean =>
  name !== '' && variant_of === undefined && (base_url !== undefined || id === ANY_SERVER);

export const adaptersIn = (defaults: JsonObject): { featured: Adapter[]; others: Adapter[] } => {
  const all = Object.keys(defaults)
    .map((id) => adapterOf(defaults, id))
    .filter(isSimple)
    .sort((one, other) => one.name.localeCompare(other.name, 'en'));
  return {
    featured: FEATURED.flatMap((id) => all.filter((adapter) => adapter.id === id)),
    others: all.filter(({ id }) => !FEATURED.includes(id)),
  };
};
