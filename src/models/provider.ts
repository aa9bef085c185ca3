import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { hintOf } from '../schema/nearest.ts';
import { Invalid } from '../schema/outcome.ts';
import { ADAPTERS, type AdapterRow, homeOf } from './adapters.ts';
import type { Model, Provider } from './model.ts';
import {
  apiKeyOf,
  baseUrlOf,
  checkOptions,
  type Environment,
  headersOf,
  timeoutSecondsOf,
} from './provider-options.ts';
import { createScriptedProvider } from './scripted.ts';
import type { Transport } from './transport/types.ts';
import type { Wire } from './wire/wire.ts';
import type { Endpoint, WireModelOptions } from './wire-model.ts';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['openai-resp', 'openai_resp'],
  ['responses', 'openai_resp'],
]);

/** What `capabilities.supported_adapters` lists; `scripted` is accepted but not listed (agent-loop.md 10). */
export const SUPPORTED_ADAPTERS: readonly string[] = Object.keys(ADAPTERS);

/** The variables that may hold keys of providers. */
export const KEY_VARIABLES: readonly string[] = Array.from(
  new Set(Object.values(ADAPTERS).map(({ keyVariable }) => keyVariable)),
);

/** Where each adapter asks and which variable of the environment its key is in, unless a provider says otherwise. */
export const ADAPTER_DEFAULTS: Readonly<Record<string, { base_url: string | null; key_variable: string }>> =
  Object.fromEntries(
    Object.entries(ADAPTERS).map(([name, { baseUrl, keyVariable }]) => [
      name,
      { base_url: typeof baseUrl === 'string' ? baseUrl : null, key_variable: keyVariable },
    ]),
  );

/** The host that inferences are sent to; nothing for a provider without one. */
export const hostOf = (spec: ProviderSpec): string | undefined => {
  const row = ROWS.get(adapterName(spec.adapter));
  const address = row && (spec.base_url || homeOf(row, spec));
  return address && URL.canParse(address) ? new URL(address).host : undefined;
};

/** The one spelling of an adapter's name. */
export const adapterName = (adapter: string): string => {
  const name = adapter.trim().toLowerCase();
  return ALIASES.get(name) ?? name;
};

export const unsupportedAdapter = ({ adapter }: Pick<ProviderSpec, 'adapter'>): Invalid =>
  new Invalid(
    `unsupported provider adapter: ${adapter}${hintOf(adapterName(adapter), 'supported', SUPPORTED_ADAPTERS)}`,
  );

const ROWS: ReadonlyMap<string, AdapterRow> = new Map(Object.entries(ADAPTERS));

/**
 * Connects to a provider as its spec says; nothing is sent before the first inference.
 *
 * Throws `Invalid` when the adapter is unknown, there is no key it may use, or an option is broken.
 *
 * @example
 * const transport = createTransport({ env: process.env });
 * const provider = createProvider({ id: 'p', adapter: 'openai', api_key: 'sk-…' }, process.env, transport);
 * const model = provider.model({ id: 'm', provider_id: 'p', upstream_model: 'gpt-5.6' });
 */
export const createProvider = (spec: ProviderSpec, env: Environment, transport: Transport): Provider => {
  const name = adapterName(spec.adapter);
  if (name === 'scripted') return createScriptedProvider(spec);
  const row = ROWS.get(name);
  if (!row) throw unsupportedAdapter(spec);
  checkOptions(spec, name);
  const home = homeOf(row, spec);
  const baseURL = baseUrlOf(spec, home);
  const connection = {
    baseURL,
    apiKey: apiKeyOf(spec, { variable: row.keyVariable, home, optional: row.keyOptional ?? false }, env),
    headers: headersOf(spec),
    tokens: { text: transport.text, now: () => Date.now() },
  };
  const { wire, headers } = row.connect(connection, spec);
  const endpoint = { baseURL, headers, wire: onceLoaded(wire) };
  const timeoutSeconds = timeoutSecondsOf(spec);
  return {
    id: spec.id,
    model: (model) =>
      loadedModel(endpoint, model, { provider: spec.id, adapter: name, timeoutSeconds, transport }),
  };
};

/** The first inference loads what all wire formats share, and the format of its provider. */
const loadedModel = (endpoint: Endpoint, spec: ModelSpec, options: WireModelOptions): Model => {
  let loaded: Model | undefined;
  return {
    id: spec.id,
    provider: options.provider,
    upstream: spec.upstream_model,
    async stream(request, sink, signal) {
      loaded ??= (await import('./wire-model.ts')).createWireModel(endpoint, spec, options);
      return loaded.stream(request, sink, signal);
    },
  };
};

/** A format that could not be loaded is loaded again by the next inference. */
const onceLoaded = (load: Endpoint['wire']): Endpoint['wire'] => {
  let loaded: Promise<Wire> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
};
