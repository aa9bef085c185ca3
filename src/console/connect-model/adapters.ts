import {
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  object,
  optional,
  ShapeError,
  text,
  withDefault,
} from '../data/guard.ts';

/** The adapters that a provider can be made for with a key and an address. */

const Defaults = object({
  name: text,
  base_url: optional(text),
  key_optional: withDefault(flag, false),
  key_url: optional(text),
  docs_url: optional(text),
  lists_models_on_request: withDefault(flag, false),
  variant_of: optional(text),
});
export type Adapter = Guarded<typeof Defaults> & { id: string };

/** Shown first; all others follow on request. */
export const FEATURED = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'openrouter',
  'groq',
  'deepseek',
  'xai',
  'ollama',
  'vllm',
  'lmstudio',
  'openai_compatible',
];

/** The options that make the service read the list of models of a provider. */
export const listOptions = ({
  lists_models_on_request,
}: Adapter): { adapter_options?: { model_discovery_schema: 'openai' } } =>
  lists_models_on_request ? { adapter_options: { model_discovery_schema: 'openai' } } : {};

/** The only adapter without a default address that needs no other option. */
export const ANY_SERVER = 'openai_compatible';

const adapterIn = (defaults: JsonObject, id: string): readonly Adapter[] => {
  if (!isObject(defaults[id])) return [];
  try {
    const adapter = { ...Defaults(defaults[id], id), id };
    const hasAddress = adapter.base_url !== undefined || id === ANY_SERVER;
    return hasAddress && adapter.variant_of === undefined ? [adapter] : [];
  } catch (error) {
    // An earlier service does not name its adapters.
    if (error instanceof ShapeError) return [];
    throw error;
  }
};

export const adaptersIn = (defaults: JsonObject): { featured: Adapter[]; others: Adapter[] } => {
  const featured = FEATURED.flatMap((id) => adapterIn(defaults, id));
  const others = Object.keys(defaults)
    .filter((id) => !FEATURED.includes(id))
    .flatMap((id) => adapterIn(defaults, id))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return { featured, others };
};
